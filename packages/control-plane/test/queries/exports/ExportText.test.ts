import { assert, describe, it } from "@effect/vitest"
import { RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { ExportHead } from "../../../src/queries/exports/ExportRepository.ts"
import {
  bundleText,
  EVENTS_PER_EXPORT_READ,
  type ExportRows,
  linesText
} from "../../../src/queries/exports/ExportText.ts"
import { CountedRows } from "./CountedRows.ts"

const RUN = RunId.make("00000000-0000-4000-8000-000000000001")
const START = "2026-07-01T10:00:00.000Z"
const TOTAL = 100_000

const head = (events: number): ExportHead => ({
  run: {
    modeName: "macp.mode.decision.v1",
    statusRevision: 3,
    record: {
      id: RUN,
      runId: RUN,
      status: "running",
      mode: "live",
      runtimeKind: "rust",
      runtimeSessionId: RUN,
      traceId: "9f2d0c7be1a94d0f8f6d1d2a3b4c5d6e",
      lastEventSeq: events,
      lastEventIndex: events,
      tags: [],
      metadata: {},
      createdAt: START,
      updatedAt: START,
      archivedAt: null
    }
  },
  session: undefined,
  projection: undefined,
  metrics: undefined,
  canonicalEvents: events,
  rawEvents: events,
  seal: undefined,
  chain: 1,
  erasures: undefined
})

const exported = (events: number, includeRaw = false) => ({
  head: head(events),
  exportedAt: START,
  options: { includeCanonical: true, includeRaw, includeMarks: true, eventLimit: events },
  signer: undefined
})

const rowsIn = (text: string) => text.split('"id":"e').length - 1 + (text.split('"id":"r').length - 1)

describe("the text of an export", () => {
  for (const [format, textOf] of [
    ["json", bundleText],
    ["jsonl", linesText]
  ] as const) {
    it.effect(`has at most one page of rows in memory, for a run of any length (${format})`, () =>
      Effect.gen(function* () {
        const rows = new CountedRows()
        let taken = 0
        let most = 0
        yield* Stream.runForEach(textOf(rows.madeUp(TOTAL), exported(TOTAL, true)), (text) =>
          Effect.sync(() => {
            most = Math.max(most, rows.read - taken)
            taken += rowsIn(text)
          })
        )
        assert.strictEqual(taken, 2 * TOTAL)
        assert.strictEqual(rows.read, 2 * TOTAL)
        assert.strictEqual(most, EVENTS_PER_EXPORT_READ)
      })
    )

    it.effect(`reads no pages that the client does not receive (${format})`, () =>
      Effect.gen(function* () {
        const rows = new CountedRows()
        yield* textOf(rows.madeUp(TOTAL), exported(TOTAL)).pipe(Stream.take(4), Stream.runDrain)
        assert.isAtMost(rows.read, EVENTS_PER_EXPORT_READ * 2)
      })
    )

    it.effect(`has the events of its head only, also after later appends (${format})`, () =>
      Effect.gen(function* () {
        const rows = new CountedRows()
        const text = yield* Stream.mkString(textOf(rows.madeUp(TOTAL), exported(1_234)))
        assert.strictEqual(rowsIn(text), 1_234)
      })
    )

    it.effect(`fails when the run is deleted meanwhile (${format})`, () =>
      Effect.gen(function* () {
        const rows = new CountedRows()
        const failure = yield* Effect.flip(Stream.runDrain(textOf(rows.madeUp(700), exported(1_000))))
        assert.strictEqual(failure._tag, "RunGone")
      })
    )

    it.effect(`fails when the run is gone after its artifacts, also without events (${format})`, () =>
      Effect.gen(function* () {
        const rows: ExportRows = { ...new CountedRows().madeUp(0), status: () => Effect.undefined }
        assert.strictEqual((yield* Effect.flip(Stream.runDrain(textOf(rows, exported(0)))))._tag, "RunGone")
      })
    )
  }

  it.effect("is one JSON document with complete lists", () =>
    Effect.gen(function* () {
      for (const events of [0, 1, EVENTS_PER_EXPORT_READ, EVENTS_PER_EXPORT_READ + 1]) {
        const text = yield* Stream.mkString(bundleText(new CountedRows().madeUp(events), exported(events, true)))
        const bundle = JSON.parse(text)
        assert.deepStrictEqual(Object.keys(bundle), [
          ...["run", "session", "projection", "metrics", "artifacts", "canonicalEvents", "rawEvents", "exportedAt"],
          ...["seal", "heads", "digest"]
        ])
        assert.lengthOf(bundle.canonicalEvents, events)
        assert.lengthOf(bundle.rawEvents, events)
      }
    })
  )

  it.effect("has a kind in each line, and the type of its event", () =>
    Effect.gen(function* () {
      const text = yield* Stream.mkString(linesText(new CountedRows().madeUp(1), exported(1, true)))
      const [first, event, raw, seal, digest, end] = text.split("\n")
      assert.strictEqual(JSON.parse(first ?? "").type, "header")
      assert.deepStrictEqual(JSON.parse(event ?? ""), {
        type: "canonical_event",
        eventType: "message.received",
        id: "e1",
        seq: 1,
        index: 1,
        ts: "then",
        data: { padding: "" }
      })
      assert.deepStrictEqual(JSON.parse(raw ?? ""), { type: "raw_event", id: "r1", seq: 1 })
      assert.deepInclude(JSON.parse(seal ?? ""), { type: "seal", seal: null })
      assert.lengthOf(JSON.parse(seal ?? "").heads, 1)
      assert.deepInclude(JSON.parse(digest ?? ""), { type: "digest", algorithm: "sha256", signature: null })
      assert.strictEqual(end, "")
    })
  )
})
