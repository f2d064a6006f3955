import { assert, describe, it } from "@effect/vitest"
import {
  canonicalJson,
  chainNext,
  chainStart,
  type ErasureEntry,
  type MemberSalts,
  makeErasuresHead,
  makeSeal,
  Seal,
  type Signer,
  signedBytes
} from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { pick } from "../support/arbitraries.ts"
import { sha256 } from "../support/digests.ts"
import { RUN_ID } from "../support/events.ts"
import {
  type Appendix,
  AT,
  appendixOf,
  draftOf,
  entryOf,
  eraseMember,
  honest,
  type Kept,
  OBJECTION,
  PROPOSAL,
  replaced,
  seedOf,
  signer,
  texts,
  VOTE,
  verifyErasable,
  whole
} from "./erasedRuns.ts"
import { bytesOf, ERASED, erasableIn, read } from "./erasures.ts"

const found = (
  kept: Kept,
  appendix: Appendix | undefined = kept.entries.length === 0 ? undefined : appendixOf(kept.entries)
) =>
  verifyErasable(kept.seal, {
    events: kept.events,
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

/** The appendix of a process without a key. */
const withoutSigner = (entries: ReadonlyArray<ErasureEntry>): Appendix => {
  const { entries: exported, head } = appendixOf(entries)
  return { entries: exported, head: makeErasuresHead(RUN_ID, entries.length, Buffer.from(head.head, "hex")) }
}

const REWORDED = "its text and its salts are not those that were sealed"

describe("a history whose values were erased", () => {
  it("fits before and after erasures, signed or not", () => {
    const events = texts.length
    const none = { ok: true, events, signature: "valid", erased: 0 } as const
    assert.deepStrictEqual(found(whole), none)
    assert.deepStrictEqual(found(honest), { ...none, erased: 3 })
    const unsigned = { ...honest, seal: makeSeal(draftOf(events, Buffer.from(honest.seal.head, "hex"))) }
    assert.deepStrictEqual(found(unsigned, withoutSigner(honest.entries)), {
      ...{ ok: true, events, signature: "unsigned", erased: 3 }
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
      { ...eraseMember(honest, VOTE, `${AT}/reason`), entries: honest.entries }
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
    [
      "a history without its last event",
      `${texts.length}: missing; ${texts.length} events were sealed`,
      { ...honest, events: honest.events.slice(0, -1) }
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
    const twice = eraseMember(eraseMember(whole, OBJECTION, `${AT}/isVip`), OBJECTION, `${AT}/isNew`)
    const [first, second] = [entryOf(twice, 0), entryOf(twice, 1)]
    const entries = [
      { ...first, digest: second.digest },
      { ...second, digest: first.digest }
    ]
    assert.strictEqual(whyOf(twice), "it fits")
    assert.strictEqual(whyOf({ ...twice, entries }), `${OBJECTION}: ${REWORDED}`)
  })

  it("shows a digest of another event and of another pointer", () => {
    const other = entryOf(eraseMember(whole, VOTE, `${AT}/reason`), 0).digest
    const erased = eraseMember(whole, OBJECTION, `${AT}/reason`)
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
  const first = makeSeal({ ...draftOf(texts.length, headOf(texts)), chain: 1 }, signer)
  const history = { events: texts }
  const why = (...given: Parameters<typeof verifyErasable>) => {
    const result = verifyErasable(...given)
    if (result.ok) return "it fits"
    return result.index === undefined ? result.why : `${result.index}: ${result.why}`
  }

  it("is signed with the seal", () => {
    const { signature: _, ...members } = whole.seal
    assert.strictEqual(read(signedBytes(whole.seal)), canonicalJson(members))
    assert.deepStrictEqual(Schema.decodeUnknownSync(Seal)(JSON.parse(JSON.stringify(whole.seal))), whole.seal)
  })

  it("1 is checked as ever, has no erasures, and can be refused", () => {
    assert.strictEqual(why(first, history), "it fits")
    assert.strictEqual(why(first, { ...history, minChain: 2 }), "its chain is of version 1, and version 2 is required")
    const erasable = "its chain is of version 1, in which no text can be erased"
    assert.strictEqual(why(first, { ...history, salts: whole.salts }), `1: ${erasable}`)
    const erasures = bytesOf(JSON.stringify(appendixOf(honest.entries)))
    assert.strictEqual(why(first, { ...history, erasures }), erasable)
    assert.strictEqual(why(whole.seal, { ...history, salts: whole.salts, minChain: 2 }), "it fits")
  })

  it("cannot be set to the other one", () => {
    const { chain: _, ...downgraded } = whole.seal
    assert.strictEqual(
      why(downgraded, { ...history, heads: whole.heads }),
      "1: its text is not the one that was sealed"
    )
    // Also with the head of version 1 in it: the signature is over the version.
    const forged = { ...downgraded, head: first.head }
    assert.strictEqual(why(forged, history), "the signature of the seal is not its key's")
    const upgraded = { ...first, head: whole.seal.head, chain: 2 as const }
    const signature = "the signature of the seal is not its key's"
    assert.strictEqual(why(upgraded, { ...history, salts: whole.salts }), signature)
    assert.strictEqual(
      why({ ...whole.seal, head: first.head }, { ...history, salts: whole.salts }),
      "the events do not end in the head that was sealed"
    )
  })
})
