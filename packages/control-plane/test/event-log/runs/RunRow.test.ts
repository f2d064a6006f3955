import { assert, describe, it } from "@effect/vitest"
import { Run } from "@runplane/api"
import * as Schema from "effect/Schema"
import { publicRun, publicRunText, type RunRow, toStoredRun } from "../../../src/event-log/runs/RunRow.ts"

const row: RunRow = {
  id: "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10",
  status: "queued",
  mode: "live",
  mode_name: "macp.mode.decision.v1",
  policy_version: null,
  runtime_kind: "rust",
  runtime_version: null,
  runtime_session_id: "s",
  trace_id: "9f2d0c7be1a94d0f8f6d1d2a3b4c5d6e",
  idempotency_key: null,
  source_kind: null,
  source_ref: null,
  tags: [],
  metadata: "{}",
  error_code: null,
  error_message: null,
  created_at: new Date(0),
  updated_at: new Date(0),
  started_at: null,
  ended_at: null,
  archived_at: null,
  history_gap: false,
  last_seq: 9_007_199_254_740_991n,
  status_revision: 0,
  last_index: 3
}

describe("a run record", () => {
  it("leaves the keys of absent values out, except archivedAt", () => {
    assert.deepStrictEqual(Object.keys(toStoredRun(row).record), [
      "id",
      "runId",
      "status",
      "mode",
      "modeName",
      "runtimeKind",
      "runtimeSessionId",
      "traceId",
      "lastEventSeq",
      "lastEventIndex",
      "tags",
      "metadata",
      "createdAt",
      "updatedAt",
      "archivedAt"
    ])
  })

  it("shows what there is", () => {
    const { record } = toStoredRun({
      ...row,
      runtime_version: "1",
      source_ref: "ref",
      error_code: "RUNTIME_TIMEOUT",
      started_at: new Date(1000),
      archived_at: new Date(2000)
    })
    assert.deepStrictEqual(record.source, { ref: "ref" })
    assert.notProperty(record, "sourceKind")
    assert.strictEqual(record.errorCode, "RUNTIME_TIMEOUT")
    assert.strictEqual(record.startedAt, "1970-01-01T00:00:01.000Z")
    assert.strictEqual(record.archivedAt, "1970-01-01T00:00:02.000Z")
    assert.strictEqual(record.lastEventSeq, 9_007_199_254_740_991)
  })

  it("redacts a callback's bearer wherever it stands, and nothing else", () => {
    const cancelCallback = { url: "https://me:secret@agent/cancel?token=secret", bearer: "secret" }
    const metadata = {
      cancelCallback,
      bearer: "mine",
      executionRequest: { session: { metadata: { cancelCallback, other: 1 }, ttlMs: 5 }, mode: "live" }
    }
    const shown = publicRun(toStoredRun({ ...row, metadata: JSON.stringify(metadata) }))
    const redacted = { url: "https://agent/cancel", bearer: "[REDACTED]" }
    assert.deepStrictEqual(shown.metadata, {
      cancelCallback: redacted,
      bearer: "mine",
      executionRequest: { session: { metadata: { cancelCallback: redacted, other: 1 }, ttlMs: 5 }, mode: "live" }
    })
  })

  it("leaves metadata of other shapes alone", () => {
    const metadata = { cancelCallback: "none", executionRequest: { session: [] } }
    assert.deepStrictEqual(publicRun(toStoredRun({ ...row, metadata: JSON.stringify(metadata) })).metadata, metadata)
  })
})

/** The text of an answer that the contract encodes. */
const encoded = Schema.encodeUnknownSync(Schema.fromJsonString(Schema.toCodecJson(Run)))

describe("the text of a record", () => {
  const callback = { url: "http://here", bearer: "secret" }
  const metadata: ReadonlyArray<object> = [
    {},
    { a: 1, executionRequest: { mode: "live", tags: ["x, y", '"', "\u2028"] }, "key: with colon": ": " },
    { cancelCallback: callback },
    { executionRequest: { session: { metadata: { cancelCallback: callback } } } }
  ]
  const columns: ReadonlyArray<Partial<RunRow>> = [
    {},
    { source_kind: "k", error_code: "E", error_message: 'say "x"', runtime_version: "1", idempotency_key: "i" },
    { started_at: new Date(1), ended_at: new Date(2), archived_at: new Date(3), history_gap: true, tags: ["t"] }
  ]
  for (const [number, value] of metadata.entries()) {
    it(`is what the contract makes of it, with metadata ${number} as we and as PostgreSQL write them`, () => {
      const spaced = JSON.stringify(value, undefined, 1).replace(/\n */g, " ").replace(/^\{ /, "{")
      for (const text of [JSON.stringify(value), spaced]) {
        for (const more of columns) {
          const stored = { ...row, ...more, metadata: text }
          assert.strictEqual(publicRunText(stored), encoded(publicRun(toStoredRun(stored))))
          assert.notInclude(publicRunText(stored), "secret")
        }
      }
    })
  }
})
