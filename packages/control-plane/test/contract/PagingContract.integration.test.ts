import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { appendMessages } from "../support/Appends.ts"
import { endRun } from "../support/EndedRuns.ts"
import { call, layerTestService } from "../support/HttpService.ts"
import { createRun } from "../support/Runs.ts"

const RUNS = 7
const EVENTS = 9

/** Everything that a cursor leads to, and the totals of its pages. */
const walk = Effect.fnUntraced(function* (path: string, limit: number) {
  const pages: Array<{ readonly size: number; readonly total: number; readonly more: boolean }> = []
  const seqs: Array<number> = []
  let afterSeq = 0
  while (true) {
    const { body, status, text } = yield* call("GET", `${path}&limit=${limit}&afterSeq=${afterSeq}`)
    assert.strictEqual(status, 200, text)
    pages.push({ size: body.data.length, total: body.total, more: "nextCursor" in body })
    for (const { seq } of body.data) seqs.push(seq)
    if (body.nextCursor === undefined) return { pages, seqs }
    assert.strictEqual(body.nextCursor, body.data.at(-1).seq)
    afterSeq = body.nextCursor
  }
})

const world = Effect.gen(function* () {
  const runIds = []
  for (let number = 0; number < RUNS; number++) {
    const runId = yield* createRun()
    yield* endRun(runId)
    runIds.push(runId)
  }
  const runId = yield* createRun()
  yield* appendMessages(runId, EVENTS)
  return { runId, runs: RUNS + 1 }
})

layer(layerTestService({ observer: { recoveryEnabled: false } }), { excludeTestServices: true })(
  "Limits and paging:",
  (it) => {
    it.effect("pages and totals are true at every boundary", () =>
      Effect.gen(function* () {
        const { runId, runs } = yield* world

        // docs/reference/runs.md#list-runs: an offset at, before and behind the end; a limit below, at and above the
        // number.
        for (const [limit, offset, size] of [
          [runs - 1, 0, runs - 1],
          [runs, 0, runs],
          [runs + 1, 0, runs],
          [200, 0, runs],
          [3, runs - 3, 3],
          [3, runs - 1, 1],
          [3, runs, 0],
          [3, runs + 100, 0],
          [1, 0, 1]
        ] as const) {
          const { body } = yield* call("GET", `/runs?limit=${limit}&offset=${offset}`)
          assert.deepStrictEqual([body.data.length, body.total, body.limit, body.offset], [size, runs, limit, offset])
        }
        const seen = new Set<string>()
        for (let offset = 0; offset < runs; offset += 3) {
          const { body } = yield* call("GET", `/runs?limit=3&offset=${offset}&sortBy=createdAt&sortOrder=asc`)
          for (const { id } of body.data) seen.add(id)
        }
        assert.strictEqual(seen.size, runs, "runs of the same moment are in one order on all pages")
        const filtered = yield* call("GET", "/runs?status=cancelled&limit=2&offset=6")
        assert.deepStrictEqual([filtered.body.data.length, filtered.body.total], [1, RUNS])

        // docs/reference/streams.md#list-events: the total counts what is behind the cursor, and a full page always has
        // one.
        const events = `/runs/${runId}/events?type=message.received`
        for (const limit of [1, 2, 3, EVENTS - 1, EVENTS, EVENTS + 1]) {
          const { pages, seqs } = yield* walk(events, limit)
          assert.lengthOf(new Set(seqs), EVENTS)
          assert.deepStrictEqual(
            seqs,
            seqs.toSorted((a, b) => a - b)
          )
          let left = EVENTS
          for (const page of pages) {
            assert.deepStrictEqual(page, { size: Math.min(limit, left), total: left, more: left >= limit })
            left -= page.size
          }
          const across = yield* walk(`/events?runId=${runId}&type=message.received`, limit)
          assert.deepStrictEqual(across, { pages, seqs })
        }
        const { pages, seqs } = yield* walk("/events?type=run.created", 3)
        assert.lengthOf(seqs, runs)
        assert.deepStrictEqual(
          pages.map(({ total }) => total),
          [8, 5, 2]
        )
      })
    )

    it.effect("so they are in the audit log", () =>
      Effect.gen(function* () {
        for (let number = 0; number < 5; number++) yield* call("POST", "/admin/circuit-breaker/reset")
        for (const [limit, offset, size] of [
          [4, 0, 4],
          [5, 0, 5],
          [6, 0, 5],
          [2, 4, 1],
          [2, 5, 0]
        ] as const) {
          const { body } = yield* call("GET", `/audit?action=circuit_breaker.reset&limit=${limit}&offset=${offset}`)
          assert.deepStrictEqual([body.data.length, body.total, body.limit, body.offset], [size, 5, limit, offset])
        }
      })
    )
  }
)
