import { createHash, generateKeyPairSync, sign, verify } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import {
  canonicalJson,
  chainNext,
  chainStart,
  doubtsOf,
  eventBytes,
  isUnchecked,
  makeSeal,
  type Seal,
  type Sha256,
  type SignatureCheck,
  type Signer,
  signedBytes,
  walkSealed
} from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { eventsOf, opened, proposes, votes } from "../support/deliberations.ts"
import { RUN_ID, textOf } from "../support/events.ts"

const sha256: Sha256 = (...parts) => {
  const hash = createHash("sha256")
  for (const part of parts) hash.update(part)
  return hash.digest()
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

const { privateKey, publicKey } = generateKeyPairSync("ed25519")
const signer: Signer = { keyId: "key-1", sign: (message) => sign(null, message, privateKey) }
const check: SignatureCheck = (keyId, message, signature) =>
  keyId === "key-1" ? verify(null, message, publicKey, signature) : undefined

const PROVEN = { late: false, provenAfter: 0, frames: null }

const texts = eventsOf(opened(), proposes("a"), votes("a", "APPROVE"), votes("b", "caf\u00e9 \u{1F600}")).map(textOf)

const headsOf = (events: ReadonlyArray<string>): ReadonlyArray<Uint8Array> => {
  let head = chainStart(sha256, RUN_ID)
  return events.map((text) => {
    head = chainNext(sha256, head, eventBytes(text))
    return head
  })
}

const sealed = (events = texts, by: Signer | undefined = signer) => {
  const heads = headsOf(events)
  const head = heads.at(-1) ?? chainStart(sha256, RUN_ID)
  const draft = { runId: RUN_ID, events: events.length, head, sealedAt: "2026-07-01T10:00:00.000Z", ...PROVEN }
  return { seal: makeSeal(draft, by), heads: heads.map(hex) }
}

const unsigned = () => {
  const { heads } = sealed()
  const draft = { runId: RUN_ID, events: texts.length, sealedAt: "2026-07-01T10:00:00.000Z", ...PROVEN }
  return { heads, seal: makeSeal({ ...draft, head: Buffer.from(heads.at(-1) ?? "", "hex") }) }
}

const verifyTexts = (events: ReadonlyArray<string>, seal: Seal, heads?: ReadonlyArray<string>) => {
  const { end, take } = walkSealed(sha256, check, seal, { heads })
  for (const text of events) {
    const mismatch = take(eventBytes(text))
    if (mismatch !== undefined) return mismatch
  }
  return end()
}

describe("the chain of a run", () => {
  it("begins with the run's id and goes on with each event's text", () => {
    const start = createHash("sha256").update(`runplane-seal-v1\n${RUN_ID}`).digest()
    assert.strictEqual(hex(chainStart(sha256, RUN_ID)), hex(start))
    const next = createHash("sha256").update(start).update("{}", "utf8").digest()
    assert.strictEqual(hex(chainNext(sha256, start, eventBytes("{}"))), hex(next))
  })
})

describe("a seal", () => {
  it("is signed over the canonical JSON of its other members", () => {
    const { seal } = sealed()
    const { signature, ...others } = seal
    assert.strictEqual(seal.algorithm, "sha256-ed25519")
    const message = Buffer.from(canonicalJson(others))
    assert.isTrue(verify(null, message, publicKey, Buffer.from(signature ?? "", "hex")))
    assert.deepInclude(unsigned().seal, { algorithm: "sha256", keyId: null, signature: null })
  })

  it("fits its history, with or without the heads on the way", () => {
    const { heads, seal } = sealed()
    assert.deepStrictEqual(verifyTexts(texts, seal, heads), { ok: true, events: 5, signature: "valid", erased: 0 })
    assert.deepStrictEqual(verifyTexts(texts, seal), { ok: true, events: 5, signature: "valid", erased: 0 })
    assert.deepInclude(verifyTexts(texts, unsigned().seal), { ok: true, signature: "unsigned" })
    const other = makeSeal(
      { ...seal, ...PROVEN, head: Buffer.from(seal.head, "hex"), previous: seal },
      { ...signer, keyId: "key-0" }
    )
    assert.deepInclude(verifyTexts(texts, other), { ok: false, why: "the key key-0 that signed the seal is not known" })
  })

  it("names the first event that does not fit", () => {
    const { heads, seal } = sealed()
    const altered = texts.with(2, (texts[2] ?? "").replace("option of p1", "option of p2"))
    assert.deepStrictEqual(verifyTexts(altered, seal, heads), {
      ok: false,
      index: 3,
      why: "its text is not the one that was sealed"
    })
    assert.deepStrictEqual(verifyTexts(altered, seal), {
      ok: false,
      why: "the events do not end in the head that was sealed"
    })
    assert.deepInclude(verifyTexts(texts.toSpliced(1, 1), seal), { index: 2, why: "it is event 3 of its run" })
    assert.deepInclude(verifyTexts(texts.toSpliced(1, 0, texts[0] ?? ""), seal), { index: 2 })
    assert.deepInclude(verifyTexts(texts.slice(0, 4), seal), { index: 5, why: "missing; 5 events were sealed" })
    const swapped = [texts[0], texts[2], texts[1], texts[3], texts[4]].map((text) => text ?? "")
    assert.deepInclude(verifyTexts(swapped, seal), { index: 2 })
    const foreign = texts.with(3, (texts[3] ?? "").replace(RUN_ID, "another"))
    assert.deepInclude(verifyTexts(foreign, seal), { index: 4, why: "it is of the run another" })
    assert.deepInclude(verifyTexts(texts.with(0, "{"), seal), { index: 1, why: "it is not an event" })
  })

  it("continues the seal before it", () => {
    const before = sealed(texts.slice(0, 3)).seal
    const { seal } = sealed()
    const head = Buffer.from(seal.head, "hex")
    const next = makeSeal({ ...seal, ...PROVEN, head, previous: before }, signer)
    assert.deepStrictEqual(next.previous, { events: 3, head: before.head })
    assert.deepInclude(verifyTexts(texts, next), { ok: true, signature: "valid", erased: 0 })
    const torn = makeSeal({ ...seal, ...PROVEN, head, previous: { events: 3, head: seal.head } }, signer)
    assert.deepInclude(verifyTexts(texts, torn), { ok: false, index: 3 })
  })

  it("says what it does not prove in its signed part", () => {
    const { seal } = sealed()
    assert.deepStrictEqual(doubtsOf(seal), [])
    const draft = { ...seal, ...PROVEN, head: Buffer.from(seal.head, "hex"), previous: { events: 3, head: seal.head } }
    const late = makeSeal({ ...draft, late: true, provenAfter: 5 }, signer)
    assert.deepStrictEqual(doubtsOf(late), [
      "it was sealed late, from what was stored then",
      "none of its events is proven to be what the service wrote"
    ])
    const half = makeSeal({ ...draft, provenAfter: 2 }, signer)
    assert.deepStrictEqual(doubtsOf(half), ["its events 1 to 2 are not proven to be what the service wrote"])
    for (const change of [{ late: false }, { provenAfter: 0 }, { frames: { after: 0, last: 1, head: seal.head } }]) {
      assert.deepInclude(verifyTexts(texts, { ...late, previous: null, ...change }), { ok: false })
      assert.isFalse(check("key-1", signedBytes({ ...late, ...change }), Buffer.from(late.signature ?? "", "hex")))
    }
  })

  it("of an earlier release, without the members of the proof, is still valid", () => {
    const { late, provenAfter, frames, signature: _, ...old } = sealed().seal
    const signature = Buffer.from(signer.sign(signedBytes(old))).toString("hex")
    assert.deepStrictEqual(JSON.parse(Buffer.from(signedBytes(old)).toString()), old)
    assert.deepInclude(verifyTexts(texts, { ...old, signature }), { ok: true, signature: "valid", erased: 0 })
    assert.isTrue(isUnchecked({ ...old, signature }))
    assert.deepStrictEqual(doubtsOf({ ...old, signature }), [])
    assert.deepStrictEqual([late, provenAfter, frames], [false, 0, null])
  })

  it("that was tampered with is refused", () => {
    const { seal } = sealed()
    const why = (changed: Partial<Seal>) => {
      const found = verifyTexts(texts, { ...seal, ...changed })
      return found.ok ? "it fits" : found.why
    }
    assert.match(why({ sealedAt: "2027-01-01T00:00:00.000Z" }), /not its key's/)
    assert.match(why({ signature: seal.signature?.toUpperCase() ?? null }), /cannot be read/)
    assert.match(why({ signature: null }), /cannot be read/)
    assert.match(why({ algorithm: "sha256" }), /says that it is unsigned/)
    assert.match(why({ events: 4 }), /ends at event 4/)
  })
})

describe("canonical JSON", () => {
  it("has one text for one value", () => {
    assert.strictEqual(
      canonicalJson({ b: [1, { d: null, c: "\u00e9\n" }], a: true }),
      '{"a":true,"b":[1,{"c":"\u00e9\\n","d":null}]}'
    )
  })

  it.prop(
    "is JSON of the same value, whatever the order of its keys",
    { value: Arbitrary.schema(Schema.Json) },
    ({ value }) => {
      const text = canonicalJson(value)
      assert.strictEqual(canonicalJson(Schema.decodeUnknownSync(Schema.Json)(JSON.parse(text))), text)
    }
  )
})
