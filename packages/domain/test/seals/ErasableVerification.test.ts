import { generateKeyPairSync, sign, verify } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import {
  canonicalJson,
  chainNext,
  chainStart,
  checkErasures,
  DigestedSeal,
  digestedEvent,
  digestedNext,
  digestedStart,
  type ErasureEntry,
  erasedEvent,
  erasuresNext,
  erasuresStart,
  eventErasure,
  type MemberSalts,
  makeDigestedSeal,
  makeErasuresHead,
  makeSeal,
  type SignatureCheck,
  type Signer,
  servedEvent,
  signedDigestedSeal,
  verifyErasable
} from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { pick } from "../support/arbitraries.ts"
import { commits, eventsOf, opened, says, votes } from "../support/deliberations.ts"
import { sha256 } from "../support/digests.ts"
import { RUN_ID, textOf } from "../support/events.ts"
import { bytesOf, ERASED, erasableIn, read } from "./erasures.ts"

const { privateKey, publicKey } = generateKeyPairSync("ed25519")
const signer: Signer = { keyId: "key-1", sign: (message) => sign(null, message, privateKey) }
const check: SignatureCheck = (keyId, message, signature) =>
  keyId === "key-1" ? verify(null, message, publicKey, signature) : undefined

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")
const seedOf = (index: number) =>
  Buffer.from(sha256(bytesOf(`seed ${index}`)))
    .subarray(0, 16)
    .toString("base64url")

const AT = "/data/decodedPayload"
const texts = eventsOf(
  opened(),
  says("a", "Proposal", { option: "refund", rationale: "Ann waited", customer: { name: "Ann" } }),
  says("b", "Objection", { severity: "low", reason: "no receipt", isVip: true, isNew: true }),
  votes("a", "APPROVE"),
  says("b", "Vote", { vote: "APPROVE", reason: "no receipt" }),
  commits(true)
).map(textOf)
const indexOf = (needle: string) => texts.findIndex((text) => text.includes(needle)) + 1
const [PROPOSAL, OBJECTION, VOTE] = [
  indexOf('"Proposal"'),
  indexOf('"Objection"'),
  indexOf('"vote":"APPROVE","reason"')
]

/** A run as the service would keep and export it. */
interface Kept {
  readonly events: ReadonlyArray<string>
  readonly salts: ReadonlyArray<MemberSalts>
  readonly heads: ReadonlyArray<string>
  readonly seal: DigestedSeal
  readonly entries: ReadonlyArray<ErasureEntry>
}

const sealedAt = "2026-07-01T10:00:00.000Z"
const draftOf = (events: number, head: Uint8Array) => ({
  ...{ runId: RUN_ID, events, head, sealedAt, late: false, provenAfter: 0, frames: null }
})

const begun = (by: Signer | undefined = signer): Kept => {
  let head = digestedStart(sha256, RUN_ID)
  const salts = texts.map((_, at) => seedOf(at + 1))
  const heads = texts.map((text, at) => {
    head = digestedNext(sha256, head, Result.getOrThrow(digestedEvent(sha256, bytesOf(text), salts[at] ?? "")))
    return hex(head)
  })
  return { events: texts, salts, heads, seal: makeDigestedSeal(draftOf(texts.length, head), by), entries: [] }
}

const replaced = <A>(list: ReadonlyArray<A>, index: number, item: A) =>
  list.map((each, at) => (at + 1 === index ? item : each))

const erase = (kept: Kept, index: number, pointer: string): Kept => {
  const { erased, text } = servedEvent(bytesOf(kept.events[index - 1] ?? ""))
  const erasure = eventErasure(sha256, text, kept.salts[index - 1] ?? "", pointer)
  const served = erasedEvent(text, [...erased, { pointer, ...ERASED }])
  if (erasure === undefined || served === undefined) throw new Error(`not erasable: ${pointer}`)
  return {
    ...kept,
    events: replaced(kept.events, index, read(served)),
    salts: replaced(kept.salts, index, erasure.salts),
    entries: [...kept.entries, { target: "event", index, pointer, digest: erasure.digest, by: "key:1", ...ERASED }]
  }
}

const appendixOf = (entries: ReadonlyArray<ErasureEntry>, by: Signer | undefined = signer, runId = RUN_ID) => {
  let head = erasuresStart(sha256, runId)
  const exported = entries.map((entry, at) => {
    const previous = hex(head)
    head = erasuresNext(sha256, head, at + 1, entry)
    return { position: at + 1, previous, ...entry }
  })
  return { entries: exported, head: makeErasuresHead(runId, entries.length, head, by) }
}
type Appendix = ReturnType<typeof appendixOf>

const found = (
  kept: Kept,
  appendix: Appendix | undefined = kept.entries.length === 0 ? undefined : appendixOf(kept.entries)
) =>
  verifyErasable(sha256, check, kept.seal, {
    events: kept.events.map(bytesOf),
    salts: kept.salts,
    heads: kept.heads,
    erasures: appendix && bytesOf(JSON.stringify(appendix))
  })
const whyOf = (kept: Kept, appendix?: Appendix) => {
  const result = found(kept, appendix)
  return result.ok ? "it fits" : `${"index" in result ? `${result.index}: ` : ""}${result.why}`
}
const eventAs = (kept: Kept, index: number, change: (text: string) => string): Kept => {
  const before = kept.events[index - 1] ?? ""
  assert.notStrictEqual(change(before), before)
  return { ...kept, events: replaced(kept.events, index, change(before)) }
}

const whole = begun()
const honest = erase(
  erase(erase(whole, PROPOSAL, `${AT}/rationale`), OBJECTION, `${AT}/isVip`),
  PROPOSAL,
  `${AT}/customer`
)
const REWORDED = "its text and its salts are not those that were sealed"

describe("a history whose values were erased", () => {
  it("fits before and after erasures, signed or not", () => {
    const events = texts.length
    const none = { ok: true, events, signature: "valid", erased: 0, erasuresSignature: null } as const
    assert.deepStrictEqual(found(whole), none)
    assert.deepStrictEqual(found(honest), { ...none, erased: 3, erasuresSignature: "valid" })
    const unsigned = { ...honest, seal: makeDigestedSeal(draftOf(events, Buffer.from(honest.seal.head, "hex"))) }
    assert.deepStrictEqual(found(unsigned, withoutSigner(honest.entries)), {
      ...{ ok: true, events, signature: "unsigned", erased: 3, erasuresSignature: "unsigned" }
    })
  })

  it("keeps its seal and its heads through an erasure, and nothing of the values", () => {
    assert.deepStrictEqual([honest.seal, honest.heads], [whole.seal, whole.heads])
    assert.notInclude(JSON.stringify(honest), "Ann")
  })

  const wronged: ReadonlyArray<readonly [string, string, Kept, Appendix?]> = [
    [
      "a value that is missing without an entry",
      `${OBJECTION}: ${REWORDED}`,
      eventAs(whole, OBJECTION, (text) => text.replace('"reason":"no receipt"', '"reason":""'))
    ],
    [
      "a value that is missing without an entry, and is said to be erased",
      `${VOTE}: ${AT}/reason is erased without an entry`,
      { ...erase(honest, VOTE, `${AT}/reason`), entries: honest.entries }
    ],
    [
      "a digest in the position of a value",
      `${OBJECTION}: ${REWORDED}`,
      eventAs(whole, OBJECTION, (text) => text.replace('"no receipt"', `"${"A".repeat(43)}"`))
    ],
    [
      "an entry whose value is there",
      `${PROPOSAL}: ${AT}/rationale has a value, and an entry erases it`,
      eventAs(honest, PROPOSAL, (text) => text.replace('"rationale":""', '"rationale":"Ann waited"'))
    ],
    [
      "an event that is restored as a whole",
      `${OBJECTION}: ${AT}/isVip has a value, and an entry erases it`,
      {
        ...honest,
        events: replaced(honest.events, OBJECTION, whole.events[OBJECTION - 1] ?? ""),
        salts: replaced(honest.salts, OBJECTION, {})
      }
    ],
    [
      "an event that conceals its erasure",
      `${OBJECTION}: what it says of the erasure of ${AT}/isVip is not the entry`,
      eventAs(honest, OBJECTION, (text) => text.replace(/,"erased":.*$/, "}"))
    ],
    [
      "another reason of an erasure",
      `${OBJECTION}: what it says of the erasure of ${AT}/isVip is not the entry`,
      eventAs(honest, OBJECTION, (text) => text.replace(ERASED.reason, "order of a court"))
    ],
    [
      "an erasure that is named twice",
      `${OBJECTION}: it names an erasure twice`,
      eventAs(honest, OBJECTION, (text) => text.replace(/"erased":\[(.*)\]}$/, '"erased":[$1,$1]}'))
    ],
    [
      "an erased member in the position of another",
      `${OBJECTION}: ${REWORDED}`,
      eventAs(honest, OBJECTION, (text) => text.replace('"isVip":null,"isNew":true', '"isNew":true,"isVip":null'))
    ],
    [
      "a changed value that is kept",
      `${VOTE}: ${REWORDED}`,
      eventAs(honest, VOTE, (text) => text.replace('"vote":"APPROVE"', '"vote":"REJECT"'))
    ],
    ["a seed that is another", `${VOTE}: ${REWORDED}`, { ...honest, salts: replaced(honest.salts, VOTE, seedOf(99)) }],
    [
      "the seed of an event with an erasure",
      `${OBJECTION}: it has the seed of its salts, and an entry erases a member of it`,
      { ...honest, salts: replaced(honest.salts, OBJECTION, seedOf(OBJECTION)) }
    ],
    [
      "salts that are missing",
      `${texts.length}: its salts are missing`,
      { ...honest, salts: honest.salts.slice(0, -1) }
    ],
    ["more salts than events", "there are more salts than events", { ...honest, salts: [...honest.salts, seedOf(1)] }],
    [
      "a history without its last event",
      `${texts.length}: missing; ${texts.length} events were sealed`,
      { ...honest, events: honest.events.slice(0, -1) }
    ],
    [
      "an entry of an event that is not there",
      `${texts.length + 1}: missing; an entry erases a member of it`,
      { ...honest, entries: [...honest.entries, { ...entryOf(honest, 0), index: texts.length + 1 }] }
    ],
    [
      "an entry of a member that is kept",
      `${VOTE}: it has no erasable member ${AT}/vote, which an entry erases`,
      { ...honest, entries: [...honest.entries, { ...entryOf(honest, 0), index: VOTE, pointer: `${AT}/vote` }] }
    ],
    [
      "erasures without a signature beside a signed seal",
      "its seal is signed, and its appendix of erasures is not",
      honest,
      withoutSigner(honest.entries)
    ]
  ]

  for (const [name, why, kept, appendix] of wronged) {
    it(`shows ${name}`, () => {
      assert.strictEqual(whyOf(kept, appendix), why)
    })
  }

  it("shows digests that are swapped between two entries, even by the owner of the key", () => {
    const twice = erase(erase(whole, OBJECTION, `${AT}/isVip`), OBJECTION, `${AT}/isNew`)
    const [first, second] = [entryOf(twice, 0), entryOf(twice, 1)]
    const entries = [
      { ...first, digest: second.digest },
      { ...second, digest: first.digest }
    ]
    assert.strictEqual(whyOf(twice), "it fits")
    assert.strictEqual(whyOf({ ...twice, entries }), `${OBJECTION}: ${REWORDED}`)
  })

  it("shows a digest of another event and of another pointer", () => {
    const other = entryOf(erase(whole, VOTE, `${AT}/reason`), 0).digest
    const erased = erase(whole, OBJECTION, `${AT}/reason`)
    assert.strictEqual(
      whyOf({ ...erased, entries: [{ ...entryOf(erased, 0), digest: other }] }),
      `${OBJECTION}: ${REWORDED}`
    )
  })

  it("shows a changed salt of a member that remains", () => {
    const salts = honest.salts[OBJECTION - 1]
    assert.isObject(salts)
    const changed = { ...(typeof salts === "string" ? {} : salts), [`${AT}/reason`]: seedOf(5) }
    const kept = { ...honest, salts: replaced(honest.salts, OBJECTION, changed) }
    assert.strictEqual(whyOf(kept), `${OBJECTION}: ${REWORDED}`)
  })

  it("is unproven for want of the key of its erasures, and a change counts more", () => {
    const other: Signer = { keyId: "key-2", sign: signer.sign }
    const unknown = "the key key-2 that signed the erasures is not known"
    assert.strictEqual(whyOf(honest, appendixOf(honest.entries, other)), unknown)
    const changed = eventAs(honest, VOTE, (text) => text.replace('"vote":"APPROVE"', '"vote":"REJECT"'))
    assert.strictEqual(whyOf(changed, appendixOf(honest.entries, other)), `${VOTE}: ${REWORDED}`)
  })

  it.prop(
    "shows every changed bit of an event, of its salts and of the heads",
    {
      part: pick(["events", "salts", "heads"] as const),
      index: Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000 }))),
      at: Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5_000 }))),
      bit: pick([1, 2, 4, 8, 16, 32, 64])
    },
    ({ at, bit, index, part }) => {
      const position = index % honest[part].length
      const before = honest[part][position]
      const bytes = Buffer.from(typeof before === "string" ? before : JSON.stringify(before))
      // The salts of an event without erasable members make no difference.
      if (part === "salts" && erasableIn(texts[position] ?? "").length === 0) return
      bytes[at % bytes.length] = (bytes[at % bytes.length] ?? 0) ^ bit
      const text = bytes.toString("utf8")
      const after = Result.getOrUndefined(
        Result.try((): MemberSalts => (typeof before === "string" ? text : JSON.parse(text)))
      )
      if (after === undefined) return
      assert.isFalse(found({ ...honest, [part]: replaced<MemberSalts | string>(honest[part], position + 1, after) }).ok)
    },
    { arbitrary: { runs: 1_000 }, timeout: 60_000 }
  )
})

describe("the version of the chain", () => {
  const headOf = (events: ReadonlyArray<string>) =>
    events.reduce((head, text) => chainNext(sha256, head, bytesOf(text)), chainStart(sha256, RUN_ID))
  const first = makeSeal(draftOf(texts.length, headOf(texts)), signer)
  const history = { events: texts.map(bytesOf) }
  const why = (...given: Parameters<typeof verifyErasable>) => {
    const result = verifyErasable(...given)
    return result.ok ? "it fits" : result.why
  }

  it("is signed with the seal", () => {
    const { signature: _, ...members } = whole.seal
    assert.strictEqual(read(signedDigestedSeal(whole.seal)), canonicalJson(members))
    assert.deepStrictEqual(Schema.decodeUnknownSync(DigestedSeal)(JSON.parse(JSON.stringify(whole.seal))), whole.seal)
  })

  it("1 is checked as ever, has no erasures, and can be refused", () => {
    assert.strictEqual(why(sha256, check, first, history), "it fits")
    assert.strictEqual(why(sha256, check, first, history, 2), "its seal is of version 1 of the chain")
    const erasable = "its seal is of version 1 of the chain, in which no text can be erased"
    assert.strictEqual(why(sha256, check, first, { ...history, salts: whole.salts }), erasable)
    const erasures = bytesOf(JSON.stringify(appendixOf(honest.entries)))
    assert.strictEqual(why(sha256, check, first, { ...history, erasures }), erasable)
    assert.strictEqual(why(sha256, check, whole.seal, { ...history, salts: whole.salts }, 2), "it fits")
  })

  it("cannot be set to the other one", () => {
    const { chain: _, ...downgraded } = whole.seal
    assert.strictEqual(
      why(sha256, check, downgraded, { ...history, heads: whole.heads }),
      "its text is not the one that was sealed"
    )
    // Also with the head of version 1 in it: the signature is over the version.
    const forged = { ...downgraded, head: first.head }
    assert.strictEqual(why(sha256, check, forged, history), "the signature of the seal is not its key's")
    const upgraded = { ...first, head: whole.seal.head, chain: 2 as const }
    const signature = "the signature of the seal is not its key's"
    assert.strictEqual(why(sha256, check, upgraded, { ...history, salts: whole.salts }), signature)
    assert.strictEqual(
      why(sha256, check, { ...whole.seal, head: first.head }, { ...history, salts: whole.salts }),
      "the events do not end in the head that was sealed"
    )
  })
})

describe("the chain of erasures", () => {
  const appendix = appendixOf(honest.entries)
  const reason = (changed: object, runId = RUN_ID) => {
    const result = checkErasures(sha256, check, runId, bytesOf(JSON.stringify(changed)))
    return result.ok ? "it fits" : result.why
  }
  const entriesAs = (entries: ReadonlyArray<object>) => reason({ ...appendix, entries })
  const [one = {}, two = {}, three = {}] = appendix.entries
  const at = (position: number, why: string) =>
    `its appendix of erasures does not fit from position ${position} on: ${why}`

  it("fits as it is", () => {
    assert.strictEqual(reason(appendix), "it fits")
  })

  it.each<readonly [string, string, ReadonlyArray<object>]>([
    ["a removed entry", at(2, "the entry has the position 3"), [one, three]],
    ["a removed end", at(3, "the signed end has 3 entries"), [one, two]],
    ["reordered entries", at(1, "the entry has the position 2"), [two, one, three]],
    ["a repeated entry", at(4, "the entry has the position 1"), [one, two, three, one]],
    [
      "a changed entry",
      at(2, "the entry before is not the one that it continues"),
      [{ ...one, by: "key:2" }, two, three]
    ],
    [
      "a changed last entry",
      at(3, "the entry is not the one of the signed end"),
      [one, two, { ...three, reason: "no" }]
    ],
    ["another member of an entry", "its appendix of erasures cannot be read", [{ ...one, value: "Ann" }, two, three]]
  ])("shows %s", (_, why, entries) => {
    assert.strictEqual(entriesAs(entries), why)
  })

  it("shows two erasures of one member, and a chain of another run or key", () => {
    const twice = appendixOf([entryOf(honest, 0), entryOf(honest, 0)])
    const member = `event ${PROPOSAL} ${AT}/rationale`
    assert.strictEqual(reason(twice), at(2, `the entry of position 1 erases ${member} already`))
    assert.strictEqual(reason(appendix, "another"), `its appendix of erasures is of the run ${RUN_ID}`)
    const { signature } = appendixOf([entryOf(honest, 0)]).head
    const head = { ...appendix.head, signature }
    assert.strictEqual(reason({ ...appendix, head }), "the signature of the erasures is not its key's")
  })

  it("begins with its own text, and its end is signed as canonical JSON", () => {
    assert.strictEqual(hex(erasuresStart(sha256, "r")), hex(sha256(bytesOf("runplane-erasures-v1\nr"))))
    const next = erasuresNext(sha256, erasuresStart(sha256, "r"), 1, entryOf(honest, 0))
    const entry = bytesOf(canonicalJson({ position: 1, ...entryOf(honest, 0) }))
    assert.strictEqual(hex(next), hex(sha256(erasuresStart(sha256, "r"), entry)))
    const { signature, ...signed } = appendix.head
    const message = bytesOf(canonicalJson({ kind: "runplane-erasures-v1", ...signed }))
    assert.isTrue(check("key-1", message, Buffer.from(signature ?? "", "hex")))
  })
})

function entryOf(kept: Kept, at: number): ErasureEntry {
  const entry = kept.entries[at]
  if (entry === undefined) throw new Error(`no entry ${at}`)
  return entry
}

function withoutSigner(entries: ReadonlyArray<ErasureEntry>): Appendix {
  const { entries: exported, head } = appendixOf(entries)
  return { entries: exported, head: makeErasuresHead(RUN_ID, entries.length, Buffer.from(head.head, "hex")) }
}
