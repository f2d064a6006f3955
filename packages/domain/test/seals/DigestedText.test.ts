import { createHash, createHmac } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import {
  digestedEvent,
  digestedFrame,
  digestedFramesStart,
  digestedNext,
  digestedStart,
  erasedEvent,
  eventErasure,
  frameErasure,
  frameText,
  type MemberSalts,
  servedEvent
} from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { arbitraryDrafts } from "../support/arbitraries.ts"
import { says } from "../support/deliberations.ts"
import { sha256 } from "../support/digests.ts"
import { number, RUN_ID, textOf } from "../support/events.ts"
import { envelopeFrame, normalise, proto } from "../support/frames.ts"
import { bytesOf, ERASED, erasableIn, read } from "./erasures.ts"

const SEED = "AAECAwQFBgcICQoLDA0ODw"
const flags = Arbitrary.array(Arbitrary.schema(Schema.Boolean), { maxLength: 40 })

/** The digest of a member by the words of the rule, with nothing of the product. */
const digestOf = (seed: string, pointer: string, value: string): string => {
  const mac = createHmac("sha256", Buffer.from(seed, "base64url")).update(pointer).digest()
  const disclosure = `["${mac.subarray(0, 16).toString("base64url")}",${JSON.stringify(pointer)},${value}]`
  return createHash("sha256").update(Buffer.from(disclosure).toString("base64url")).digest("base64url")
}

/** A value with its member at a pointer replaced: the digested text by way of parsed JSON instead of spans. */
const replacedAt = (value: Schema.Json, pointer: string, digest: (text: string) => string): Schema.Json => {
  const [, first, rest] = /^\/([^/]*)(.*)$/.exec(pointer) ?? []
  if (first === undefined) return digest(JSON.stringify(value))
  const name = first.replaceAll("~1", "/").replaceAll("~0", "~")
  const change = (each: Schema.Json, key: string) => (key === name ? replacedAt(each, rest ?? "", digest) : each)
  if (Array.isArray(value)) return value.map((each: Schema.Json, at) => change(each, `${at}`))
  if (typeof value !== "object" || value === null) throw new Error(`nothing at ${pointer}`)
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, change(each, key)]))
}

const digestedByHand = (text: string, pointers: ReadonlyArray<string>, seed = SEED): string =>
  JSON.stringify(
    pointers.reduce<Schema.Json>(
      (value, pointer) => replacedAt(value, pointer, (member) => digestOf(seed, pointer, member)),
      JSON.parse(text)
    )
  )

const digested = (text: string, salts: MemberSalts = SEED, erased: ReadonlyMap<string, string> = new Map()) =>
  Result.map(digestedEvent(sha256, bytesOf(text), salts, erased), read)

/** Erases members one after another, as the service does. */
const erased = (text: string, pointers: ReadonlyArray<string>) => {
  let served = bytesOf(text)
  let salts: MemberSalts = SEED
  const digests = new Map<string, string>()
  for (const pointer of pointers) {
    const { erased: before, text: left } = servedEvent(served)
    const member = eventErasure(sha256, left, salts, pointer)
    if (member === undefined) throw new Error(`not erasable: ${pointer}`)
    digests.set(pointer, member.digest)
    salts = member.salts
    served = erasedEvent(left, [...before, { pointer, ...ERASED }]) ?? served
  }
  return { text: read(servedEvent(served).text), salts, digests }
}

const AT = "/data/decodedPayload"
const [objection = ""] = number([
  says("b", "Objection", { severity: "high", reason: "Ann", reasons: ["A"], age: 6 })
]).map(textOf)
const failureOf = (result: Result.Result<string, string>) => Result.getOrUndefined(Result.flip(result))

describe("the digested text of an event", () => {
  it.prop("has the digest of each erasable value in its position", { drafts: arbitraryDrafts }, ({ drafts }) => {
    for (const text of number(drafts).map(textOf)) {
      assert.strictEqual(Result.getOrThrow(digested(text)), digestedByHand(text, erasableIn(text)))
    }
  })

  it.prop("stays when members are erased, in any number", { drafts: arbitraryDrafts, flags }, ({ drafts, flags }) => {
    for (const text of number(drafts).map(textOf)) {
      const chosen = erasableIn(text).filter((_, at) => flags[at] === true)
      const { digests, salts, text: left } = erased(text, chosen)
      assert.strictEqual(Result.getOrThrow(digested(left, salts, digests)), Result.getOrThrow(digested(text)))
    }
  })

  it("depends on the value, the member and the salt", () => {
    const reason = Result.getOrThrow(digested(objection))
    for (const changed of [
      objection.replace('"Ann"', '"Ben"'),
      objection.replace('"reason":"Ann"', '"reason":["Ann"]'),
      objection.replace('"reason":"Ann","reasons":["A"]', '"reason":["A"],"reasons":"Ann"'),
      objection.replace('"high"', '"low"')
    ]) {
      assert.notStrictEqual(changed, objection)
      assert.notStrictEqual(Result.getOrThrow(digested(changed)), reason)
    }
    assert.notStrictEqual(Result.getOrThrow(digested(objection, "AAECAwQFBgcICQoLDA0ODg")), reason)
  })

  it("keeps no seed and no salt of what was erased", () => {
    const { salts } = erased(objection, [`${AT}/reason`])
    assert.deepStrictEqual(Object.keys(salts), [`${AT}/reasons`, `${AT}/age`])
    assert.notInclude(JSON.stringify(salts), SEED)
    assert.deepStrictEqual(erased(objection, erasableIn(objection)).salts, {})
  })

  it("is not made of erasures and salts that contradict the text", () => {
    const { digests, salts, text } = erased(objection, [`${AT}/reason`])
    const digest = digests.get(`${AT}/reason`) ?? ""
    const restored = text.replace('"reason":""', '"reason":"Ann"')
    const [age] = typeof salts === "string" ? [] : Object.values(salts)
    const salted = { ...(typeof salts === "string" ? {} : salts) }
    const faults: ReadonlyArray<readonly [string, Result.Result<string, string>]> = [
      [`${AT}/reason has a value, and an entry erases it`, digested(restored, salts, digests)],
      [`the salt of ${AT}/reason is missing`, digested(text, salts)],
      [`the salt of ${AT}/reasons is missing`, digested(text, {}, digests)],
      ["it has the seed of its salts, and an entry erases a member of it", digested(text, SEED, digests)],
      [
        `it has a salt of ${AT}/reason, which is not a member with a value`,
        digested(text, { ...salted, [`${AT}/reason`]: age ?? "" }, digests)
      ],
      [
        `it has no erasable member ${AT}/severity, which an entry erases`,
        digested(objection, SEED, new Map([[`${AT}/severity`, digest]]))
      ],
      ["its seed cannot be read", digested(objection, "AAAA")],
      ["its seed cannot be read", digested(objection, "AAECAwQFBgcICQoLDA0OD!")],
      // The last characters differ in bits that no byte has: a seed has one text.
      ["its seed cannot be read", digested(objection, "AAECAwQFBgcICQoLDA0ODx")],
      ["it cannot be read", digested("[]")]
    ]
    for (const [why, result] of faults) assert.strictEqual(failureOf(result), why)
  })

  it("leaves the same text and salts of either of two values", () => {
    const guesses = [true, false].map((isYes) => {
      const [text = ""] = number([says("b", "Vote", { vote: "APPROVE", isSick: isYes })]).map(textOf)
      const { digests, salts, text: left } = erased(text, [`${AT}/isSick`])
      return { left, salts, digest: digests.get(`${AT}/isSick`) }
    })
    const [yes, no] = guesses
    assert.deepStrictEqual([yes?.left, yes?.salts], [no?.left, no?.salts])
    assert.notStrictEqual(yes?.digest, no?.digest)
  })

  it("has no member that is not erasable or without a salt to erase", () => {
    assert.isUndefined(eventErasure(sha256, bytesOf(objection), SEED, `${AT}/severity`))
    assert.isUndefined(eventErasure(sha256, bytesOf(objection), {}, `${AT}/reason`))
    assert.isUndefined(eventErasure(sha256, bytesOf(objection), "AAAA", `${AT}/reason`))
  })
})

describe("version 2 of the chains", () => {
  const hash = (...parts: ReadonlyArray<string | Uint8Array>) => {
    const made = createHash("sha256")
    for (const part of parts) made.update(part)
    return made.digest()
  }

  it("begins with its own text and goes on with the hash of each digested text", () => {
    const head = digestedStart(sha256, RUN_ID)
    assert.deepStrictEqual(Buffer.from(head), hash(`runplane-seal-v2\n${RUN_ID}`))
    const text = digestedByHand(objection, erasableIn(objection))
    const next = digestedNext(sha256, head, Result.getOrThrow(digestedEvent(sha256, bytesOf(objection), SEED)))
    assert.deepStrictEqual(Buffer.from(next), hash(head, hash(text)))
  })

  it("has a head that no later release may change", () => {
    const event =
      '{"id":"e1","runId":"r1","seq":1,"index":1,"ts":"2026-07-01T10:00:00.000Z","type":"proposal.updated",' +
      '"schemaVersion":3,"source":{"kind":"runtime","name":"rust-runtime"},"data":{"messageType":"Vote","sender":"a",' +
      '"decodedPayload":{"vote":"APPROVE","reason":"é \\u0001","customer":{"age":61}}}}'
    const made = Result.getOrThrow(digestedEvent(sha256, bytesOf(event), SEED))
    const head = digestedNext(sha256, digestedStart(sha256, "r1"), made)
    assert.strictEqual(
      Buffer.from(head).toString("hex"),
      "ea77a967daf9a3dd0b8863530b9d23953d57867523b4464368e5fbc25f1ae418"
    )
  })

  it("covers a raw frame, whose bytes can be erased", () => {
    const { kind, payload, sourceName } = normalise(
      envelopeFrame("Vote", proto({ vote: "APPROVE", reason: "Ann" }))
    ).raw
    const text = frameText({ seq: 1, ts: "2026-07-01T10:00:00.000Z", kind, sourceName }, JSON.stringify(payload))
    const pointer = "/payload/envelope/payloadBase64"
    const made = read(Result.getOrThrow(digestedFrame(sha256, bytesOf(text), SEED)))
    const { payloadBase64 } = JSON.parse(text)[4].envelope
    const digest = digestOf(SEED, pointer, JSON.stringify(payloadBase64))
    assert.strictEqual(made, text.replace(payloadBase64, digest))
    assert.deepStrictEqual(frameErasure(sha256, bytesOf(text), SEED, pointer), { digest, salts: {} })
    assert.isUndefined(frameErasure(sha256, bytesOf(text), SEED, "/payload/envelope/sender"))
    const left = text.replace(payloadBase64, "")
    const after = digestedFrame(sha256, bytesOf(left), {}, new Map([[pointer, digest]]))
    assert.strictEqual(read(Result.getOrThrow(after)), made)
    assert.isTrue(Result.isFailure(digestedFrame(sha256, bytesOf("{}"), SEED)))
    assert.deepStrictEqual(Buffer.from(digestedFramesStart(sha256, RUN_ID)), hash(`runplane-frames-v2\n${RUN_ID}`))
  })
})
