import { assert, describe, it } from "@effect/vitest"
import {
  checkFrames,
  digestedFrame,
  digestedFramesStart,
  digestedNext,
  type ErasureEntry,
  frameErasure,
  frameText,
  type MemberSalts,
  rawEventId,
  type SealedFrames
} from "@runplane/domain"
import * as Result from "effect/Result"
import { sha256 } from "../support/digests.ts"
import { RUN_ID } from "../support/events.ts"
import { envelopeFrame, NOW, normalise, proto } from "../support/frames.ts"
import { hex, replaced, seedOf } from "./erasedRuns.ts"
import { bytesOf, ERASED } from "./erasures.ts"

const POINTER = "/payload/envelope/payloadBase64"

/** The payloads of three frames, as they are stored. */
const payloads = ["Ann waited", "no receipt", "refund"].map((reason, at) => {
  const { raw } = normalise(envelopeFrame("Vote", proto({ vote: "APPROVE", reason }), { messageId: `m${at}` }))
  return JSON.stringify(raw.payload)
})
const members = (seq: number) => ({ seq, ts: NOW, kind: "stream-envelope", sourceName: "rust-runtime" })
const textAt = (seq: number, payload: string) => bytesOf(frameText(members(seq), payload))

/** A frame as an export has it. */
const exported = (payload: string, at: number) => {
  const seq = at + 1
  const id = rawEventId(sha256, RUN_ID, seq)
  const frame = JSON.stringify({ id, runId: RUN_ID, ...members(seq), payload: 0, createdAt: NOW })
  return bytesOf(frame.replace('"payload":0', `"payload":${payload}`))
}

const salts: ReadonlyArray<MemberSalts> = payloads.map((_, at) => seedOf(at + 1))
const sealed: SealedFrames = {
  after: 0,
  last: payloads.length,
  head: hex(
    payloads.reduce(
      (head, payload, at) => {
        const text = digestedFrame(sha256, textAt(at + 1, payload), salts[at] ?? "")
        return digestedNext(sha256, head, Result.getOrThrow(text))
      },
      digestedFramesStart(sha256, RUN_ID)
    )
  )
}

const emptied = (payload: string) => payload.replace(/"payloadBase64":"[^"]*"/, '"payloadBase64":""')

/** The second frame without its bytes. */
const erasure = frameErasure(sha256, textAt(2, payloads[1] ?? ""), salts[1] ?? "", POINTER)
const entry: ErasureEntry = {
  ...{ target: "frame", index: 2, pointer: POINTER, digest: erasure?.digest ?? "", by: "key:1" },
  ...ERASED
}
const erased = {
  payloads: replaced(payloads, 2, emptied(payloads[1] ?? "")),
  salts: replaced(salts, 2, erasure?.salts ?? ""),
  entries: [entry]
}

interface Given {
  readonly payloads?: ReadonlyArray<string>
  readonly salts?: ReadonlyArray<MemberSalts>
  readonly entries?: ReadonlyArray<ErasureEntry>
  readonly sealed?: SealedFrames
}

const found = (given: Given) =>
  checkFrames(sha256, RUN_ID, (given.payloads ?? payloads).map(exported), given.sealed ?? sealed, {
    salts: given.salts ?? salts,
    entries: given.entries ?? []
  })
const whyOf = (given: Given) => {
  const result = found(given)
  return result.ok ? (result.unproven ?? "it fits") : result.why
}

describe("raw frames in version 2 of their chain", () => {
  it("fit before and after the bytes of one are erased", () => {
    assert.strictEqual(whyOf({}), "it fits")
    assert.strictEqual(whyOf(erased), "it fits")
    // An entry of an event is none of the frame at its position.
    assert.strictEqual(whyOf({ entries: [{ ...entry, target: "event" }] }), "it fits")
  })

  it.each<readonly [string, string, Given]>([
    [
      "bytes that are missing without an entry",
      "the raw frames are not those that were sealed",
      {
        payloads: erased.payloads
      }
    ],
    [
      "an entry whose bytes are there",
      `raw frame 2 does not fit: ${POINTER} has a value, and an entry erases it`,
      {
        ...erased,
        payloads
      }
    ],
    [
      "the digest of another frame",
      "the raw frames are not those that were sealed",
      {
        ...erased,
        entries: [
          {
            ...entry,
            digest: frameErasure(sha256, textAt(3, payloads[2] ?? ""), salts[2] ?? "", POINTER)?.digest ?? ""
          }
        ]
      }
    ],
    [
      "a seed that is another",
      "the raw frames are not those that were sealed",
      { salts: replaced(salts, 3, seedOf(9)) }
    ],
    ["salts that are missing", "raw frame 3 does not fit: its salts are missing", { salts: salts.slice(0, 2) }],
    [
      "a changed member that is kept",
      "the raw frames are not those that were sealed",
      {
        payloads: payloads.map((payload) => payload.replace('"m1"', '"m7"'))
      }
    ],
    [
      "an entry of a frame that the seal does not cover",
      `raw frame 2 does not fit: ${POINTER} has a value, and an entry erases it`,
      {
        ...erased,
        payloads,
        sealed: { ...sealed, after: 2 }
      }
    ]
  ])("show %s", (_, why, given) => {
    assert.strictEqual(whyOf(given), why)
  })
})
