import { randomBytes } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import {
  digestedEvent,
  digestedFrame,
  digestedNext,
  digestedStart,
  eventBytes,
  frameText,
  type JsonObject,
  type RecordedEvent,
  RunId
} from "@runplane/domain"
import * as Result from "effect/Result"
import { eventTexts, payloadTexts } from "../../../src/event-log/seal/DigestedTexts.ts"
import { extendDigested } from "../../../src/event-log/seal/HashChain.ts"
import { sha256 } from "../../../src/platform/Sha256.ts"

const RUN = "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10"
const AT = "2026-07-01T10:00:00.000Z"

const eventOf = (data: JsonObject): RecordedEvent => ({
  ...{ id: "e", runId: RunId.make(RUN), seq: 1, index: 1, ts: AT, type: "proposal.updated", schemaVersion: 3 },
  source: { kind: "runtime", name: "rust-runtime" },
  data
})

/** Names of all lengths around a block of the hash and the longest pointer of the fast way. */
const NAMES = [
  "reason",
  "a/b~c",
  'q"\\\n',
  "naïve 🦊",
  ...[1, 20, 41, 42, 43, 100, 1_000, 1_024, 1_030, 5_000].map((length) => "x".repeat(length)),
  "é".repeat(1_010)
]
const payload = Object.fromEntries(
  NAMES.map((name, at) => [name, at % 3 === 0 ? `text 🦊 ${at}` : at % 3 === 1 ? { nested: [at] } : at % 2 === 0])
)

describe("the digested text of an append", () => {
  it("is that of a checker, whatever the seed, the names and the values", () => {
    for (let round = 0; round < 100; round++) {
      const seed = randomBytes(16)
      const salts = seed.toString("base64url")
      const event = eventOf({ sender: "a", decodedPayload: { vote: "APPROVE", ...payload }, attributes: payload })
      const checked = Result.getOrThrow(digestedEvent(sha256, eventBytes(JSON.stringify(event)), salts))
      assert.deepStrictEqual(eventTexts(seed, event), {
        text: JSON.stringify(event),
        digested: Buffer.from(checked).toString()
      })

      const envelope: JsonObject = { envelope: { sender: "a", payloadBase64: "QW5u".repeat(round) } }
      const members = { seq: 1, ts: AT, kind: "stream-envelope", sourceName: "rust-runtime" }
      const frame = eventBytes(frameText(members, JSON.stringify(envelope)))
      const { digested, text } = payloadTexts(seed, members.kind, envelope)
      assert.strictEqual(text, JSON.stringify(envelope))
      assert.strictEqual(
        frameText(members, digested ?? ""),
        Buffer.from(Result.getOrThrow(digestedFrame(sha256, frame, salts))).toString()
      )
    }
  })

  it("extends the chain as a checker does", () => {
    const start = digestedStart(sha256, RUN)
    for (const text of ["", "{}", "naïve 🦊", "x".repeat(300_000)]) {
      const expected = digestedNext(sha256, start, eventBytes(text))
      assert.strictEqual(
        Buffer.from(extendDigested(start, text)).toString("hex"),
        Buffer.from(expected).toString("hex")
      )
    }
  })
})
