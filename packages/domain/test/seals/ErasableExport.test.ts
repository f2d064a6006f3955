import { assert, describe, it } from "@effect/vitest"
import {
  decodeEventText,
  digestedFrame,
  digestedFramesStart,
  digestedNext,
  type ErasureEntry,
  type ExportSalts,
  emptyRunMetrics,
  exportEnds,
  exportedLine,
  frameErasure,
  frameText,
  type MemberSalts,
  makeErasuresHead,
  makeExportDigest,
  makeSeal,
  measure,
  projectAll,
  RunId,
  rawEventId,
  type Seal,
  type Signer,
  verifyExport
} from "@runplane/domain"
import * as Result from "effect/Result"
import { sha256 } from "../support/digests.ts"
import { RUN_ID } from "../support/events.ts"
import { formats, sessionText } from "../support/exports.ts"
import { envelopeFrame, NOW, normalise, proto } from "../support/frames.ts"
import {
  AT,
  appendixOf,
  check,
  draftOf,
  entryOf,
  eraseMember,
  hex,
  honest,
  type Kept,
  OBJECTION,
  PROPOSAL,
  replaced,
  seedOf,
  signer,
  VOTE,
  whole
} from "./erasedRuns.ts"
import { bytesOf, ERASED } from "./erasures.ts"

const POINTER = "/payload/envelope/payloadBase64"
const payloads = ["Ann waited", "no receipt"].map((reason, at) =>
  JSON.stringify(
    normalise(envelopeFrame("Vote", proto({ vote: "APPROVE", reason }), { messageId: `m${at}` })).raw.payload
  )
)
const members = (seq: number) => ({ seq, ts: NOW, kind: "stream-envelope", sourceName: "rust-runtime" })
const textOfFrame = (seq: number, payload: string) => bytesOf(frameText(members(seq), payload))
const frameSalts: ReadonlyArray<MemberSalts> = payloads.map((_, at) => seedOf(50 + at))
const framesHead = payloads.reduce(
  (head, payload, at) =>
    digestedNext(
      sha256,
      head,
      Result.getOrThrow(digestedFrame(sha256, textOfFrame(at + 1, payload), frameSalts[at] ?? ""))
    ),
  digestedFramesStart(sha256, RUN_ID)
)

/** A run with its raw frames, as the service exports it. */
interface Exported {
  readonly kept: Kept
  readonly payloads: ReadonlyArray<string>
  readonly frameSalts: ReadonlyArray<MemberSalts>
  readonly seal: Seal | undefined
  readonly salts?: ExportSalts | null
  readonly erasures?: string | null
  readonly by?: Signer | undefined
}

const sealed = makeSeal(
  {
    ...draftOf(whole.events.length, Buffer.from(whole.seal.head, "hex")),
    frames: { after: 0, last: payloads.length, head: hex(framesHead) }
  },
  signer
)
const before: Exported = { kept: whole, payloads, frameSalts, seal: sealed, by: signer }

const erasure = frameErasure(sha256, textOfFrame(2, payloads[1] ?? ""), frameSalts[1] ?? "", POINTER)
const frameEntry: ErasureEntry = {
  ...{ target: "frame", index: 2, pointer: POINTER, digest: erasure?.digest ?? "", by: "key:1" },
  ...ERASED
}
const after: Exported = {
  ...before,
  kept: { ...honest, entries: [...honest.entries, frameEntry] },
  payloads: replaced(payloads, 2, (payloads[1] ?? "").replace(/"payloadBase64":"[^"]*"/, '"payloadBase64":""')),
  frameSalts: replaced(frameSalts, 2, erasure?.salts ?? {})
}

const exported = (format: keyof typeof exportEnds, made: Exported): Buffer => {
  const { kept, seal } = made
  const events = kept.events.map((text) => Result.getOrThrow(decodeEventText(text)))
  const state = projectAll(RUN_ID, events)
  const metrics = events.reduce(measure, emptyRunMetrics(RunId.make(RUN_ID)))
  const around =
    `"run":{"id":"${RUN_ID}","status":"running"},"session":${sessionText},"projection":${JSON.stringify(state)},` +
    `"metrics":${JSON.stringify(metrics)},"artifacts":[]`
  const frames = made.payloads.map((payload, at) => {
    const frame = { id: rawEventId(sha256, RUN_ID, at + 1), runId: RUN_ID, ...members(at + 1) }
    return `${JSON.stringify(frame).slice(0, -1)},"payload":${payload},"createdAt":"${NOW}"}`
  })
  const body = {
    json: `{${around},"canonicalEvents":[${kept.events.join(",")}],"rawEvents":[${frames.join(",")}],"exportedAt":"then"`,
    jsonl: [
      `{"type":"header",${around}}`,
      ...kept.events.map(exportedLine),
      ...frames.map((frame) => `{"type":"raw_event",${frame.slice(1)}`)
    ]
      .map((line) => `${line}\n`)
      .join("")
  }
  const salts = made.salts === undefined ? { events: kept.salts, frames: made.frameSalts } : (made.salts ?? undefined)
  const appendix = kept.entries.length === 0 ? undefined : JSON.stringify(appendixOf(kept.entries))
  const erasures = made.erasures === undefined ? appendix : (made.erasures ?? undefined)
  const covered = body[format] + exportEnds[format].proof({ seal, heads: kept.heads, salts, erasures })
  return Buffer.from(covered + exportEnds[format].digest(makeExportDigest(sha256(Buffer.from(covered)), made.by)))
}

const ofVersion1 = ({ chain: _, ...seal }: Seal): Seal => seal

/** The appendix of a process without a key. */
const withoutKey = (entries: ReadonlyArray<ErasureEntry>) => {
  const { entries: listed, head } = appendixOf(entries)
  return { entries: listed, head: makeErasuresHead(RUN_ID, entries.length, Buffer.from(head.head, "hex")) }
}

for (const format of formats) {
  describe(`an export of version 2 in format ${format}`, () => {
    const found = (made: Exported, minChain?: 1 | 2) =>
      verifyExport(sha256, check, exported(format, made), { minChain })
    const whyOf = (made: Exported) => {
      const result = found(made)
      return result.ok ? "it fits" : `${result.index === undefined ? "" : `${result.index}: `}${result.why}`
    }

    it("fits before and after erasures, and names the frames that lost their bytes", () => {
      const whyNot = JSON.stringify(found(before))
      assert.deepInclude(found(before, 2), { ok: true, signature: "valid", erased: 0 }, whyNot)
      const result = found(after, 2)
      assert(result.ok, JSON.stringify(result))
      assert.strictEqual(result.erased, 4)
      assert.include(result.proven, "raw frames")
      assert.include(
        result.notProven,
        "raw frames 2: values were erased, so the runtime's signatures over them cannot be computed again"
      )
      assert.notInclude(exported(format, after).toString(), "Ann")
    })

    it("fits while the run is open", () => {
      const open = found({ ...after, seal: undefined }, 2)
      assert.deepInclude(open, { ok: true, seal: null, signature: null, erased: 4 }, JSON.stringify(open))
    })

    const wronged: ReadonlyArray<readonly [string, string, Exported]> = [
      ["salts that are missing", "its chain is of version 2, and its salts are missing", { ...after, salts: null }],
      [
        "salts that cannot be read",
        "its salts cannot be read",
        { ...before, salts: { events: replaced(whole.salts, 1, "short"), frames: frameSalts } }
      ],
      [
        "more salts than events",
        "there are more salts than events",
        { ...before, salts: { events: [...whole.salts, seedOf(1)], frames: frameSalts } }
      ],
      [
        "more salts than raw frames",
        "there are more salts of raw frames than raw frames",
        { ...before, salts: { events: whole.salts, frames: [...frameSalts, seedOf(1)] } }
      ],
      [
        "erasures that were removed",
        `${PROPOSAL}: ${AT}/rationale is erased without an entry`,
        { ...after, erasures: null }
      ],
      [
        "an entry that was removed",
        `${PROPOSAL}: ${AT}/customer is erased without an entry`,
        { ...after, kept: { ...after.kept, entries: after.kept.entries.filter((_, at) => at !== 2) } }
      ],
      [
        "an entry of an event that is not there",
        `${whole.events.length + 1}: missing; an entry erases a member of it`,
        {
          ...after,
          kept: {
            ...after.kept,
            entries: [...after.kept.entries, { ...entryOf(honest, 0), index: whole.events.length + 1 }]
          }
        }
      ],
      [
        "an entry of a raw frame that is not there",
        "raw frame 3 is missing; an entry erases a member of it",
        { ...after, kept: { ...after.kept, entries: [...after.kept.entries, { ...frameEntry, index: 3 }] } }
      ],
      [
        "a value of a raw frame that is missing without an entry",
        "the raw frames are not those that were sealed",
        { ...after, kept: honest, frameSalts }
      ],
      [
        "a member that was erased by a writer of the database without the key",
        "its seal is signed, and its appendix of erasures is not",
        {
          ...after,
          kept: eraseMember(whole, VOTE, `${AT}/reason`),
          payloads,
          frameSalts,
          erasures: JSON.stringify(withoutKey(eraseMember(whole, VOTE, `${AT}/reason`).entries))
        }
      ],
      [
        "the same in an export of an open run",
        "its export is signed, and its appendix of erasures is not",
        { ...after, seal: undefined, erasures: JSON.stringify(withoutKey(after.kept.entries)) }
      ],
      [
        "a seal that was set to version 1",
        "its chain is of version 1, in which no text can be erased",
        { ...after, seal: ofVersion1(sealed) }
      ],
      [
        "a member that is erased in the position of another",
        `${OBJECTION}: its text and its salts are not those that were sealed`,
        {
          ...after,
          kept: {
            ...after.kept,
            events: replaced(
              after.kept.events,
              OBJECTION,
              (after.kept.events[OBJECTION - 1] ?? "").replace('"isVip":null,"isNew":true', '"isNew":true,"isVip":null')
            )
          }
        }
      ]
    ]
    for (const [name, why, made] of wronged) {
      it(`shows ${name}`, () => {
        assert.strictEqual(whyOf(made), why)
      })
    }
  })
}
