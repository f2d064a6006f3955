import { createHash, generateKeyPairSync, sign, verify } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import {
  keyChain,
  keyThumbprint,
  makeKeyStatement,
  type Sha256,
  type SignatureCheck,
  type SignedKeyStatement
} from "@runplane/domain"

const sha256: Sha256 = (...parts) => {
  const hash = createHash("sha256")
  for (const part of parts) hash.update(part)
  return hash.digest()
}

const makeKey = () => {
  const pair = generateKeyPairSync("ed25519")
  const { x: publicKey = "" } = pair.publicKey.export({ format: "jwk" })
  return {
    ...{ keyId: keyThumbprint(sha256, publicKey), publicKey, key: pair.publicKey },
    sign: (message: Uint8Array) => sign(null, message, pair.privateKey)
  }
}

const [first, second, third, mallory] = [makeKey(), makeKey(), makeKey(), makeKey()]
const check: SignatureCheck = (keyId, message, signature) => {
  const found = [first, second, third, mallory].find((one) => one.keyId === keyId)
  return found && verify(null, message, found.key, signature)
}

const day = (number: number) => `2026-11-0${number}T00:00:00.000Z`
const root = makeKeyStatement(first, day(1))
const next = makeKeyStatement(second, day(2), first)
const last = makeKeyStatement(third, day(3), second)
const namesOf = (statements: ReadonlyArray<SignedKeyStatement>, newest = third.keyId) =>
  keyChain(sha256, statements, check, newest).map(({ keyId }) =>
    keyId === first.keyId ? "first" : keyId === second.keyId ? "second" : keyId === third.keyId ? "third" : "mallory"
  )

describe("the chain of keys", () => {
  it("goes from a key to the first one, the newest first", () => {
    assert.deepStrictEqual(namesOf([root, last, next]), ["third", "second", "first"])
    assert.deepStrictEqual(namesOf([root, last, next], second.keyId), ["second", "first"])
  })

  it.each([
    ["a key that nothing joins to it", [root, next, last, makeKeyStatement(mallory, day(1))]],
    [
      "a key that names one of the chain as its successor only by itself",
      [root, next, last, makeKeyStatement(mallory, day(4), third)]
    ],
    [
      "a second statement whose predecessor did not sign",
      [root, next, last, { ...makeKeyStatement(third, day(3), second), previous: mallory.keyId }]
    ],
    ["a key with the id of another", [root, next, last, { ...makeKeyStatement(mallory, day(1)), keyId: second.keyId }]]
  ])("does not have %s", (_, statements) => {
    assert.deepStrictEqual(namesOf(statements), ["third", "second", "first"])
  })

  it.each([
    ["a statement that is missing", [last, root], ["third"]],
    ["a statement whose time was changed", [last, { ...next, since: day(1) }, root], ["third"]],
    [
      "a signature of the predecessor that is of another key",
      [{ ...last, previousSignature: last.signature }, next, root],
      ["third"]
    ],
    ["a signature that is not hexadecimal", [{ ...last, signature: "zz" }, next, root], []],
    ["a key older than its predecessor", [makeKeyStatement(third, day(1), second), next, root], ["third"]]
  ])("ends at %s", (_, statements, expected) => assert.deepStrictEqual(namesOf(statements), expected))

  it("ends where keys name each other in a circle", () => {
    const circle = [makeKeyStatement(first, day(1), second), makeKeyStatement(second, day(1), first)]
    assert.deepStrictEqual(namesOf(circle, first.keyId), ["first", "second"])
  })

  it("takes the statement that names a predecessor, when a key has two", () => {
    assert.deepStrictEqual(namesOf([makeKeyStatement(second, day(2)), next, root], second.keyId), ["second", "first"])
  })
})
