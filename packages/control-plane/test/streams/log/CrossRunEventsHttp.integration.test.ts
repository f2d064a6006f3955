import { randomUUID } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import type { RunId } from "@runplane/domain"
import type { Answer } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { EventLog } from "../../../src/event-log/EventLog.ts"
import { EVENTS_PER_READ } from "../../../src/queries/events/EventsHttp.ts"
import { appendMessages, messageDraft } from "../../support/Appends.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { createRun } from "../../support/Runs.ts"

const at = (second: number) => `2026-07-01T10:00:0${second}.000Z`

interface Item {
  readonly seq: number
  readonly runId: string
  readonly type: string
  readonly ts: string
}

/** Repeats the request until it returns all events; open transactions may delay the watermark. */
const listed = Effect.fnUntraced(function* (path: string, count: number) {
  while (true) {
    const answer: Answer = yield* call("GET", path)
    if (answer.status !== 200 || answer.body.data.length >= count) return answer
  }
})

// No observer claims the runs, because it would append events.
const service = layerTestService({ observer: { recoveryEnabled: false } })

layer(service, { excludeTestServices: true })("GET /events", (it) => {
  let cached: { readonly runs: ReadonlyArray<RunId>; readonly items: ReadonlyArray<Item> } | undefined
  /** Two runs whose events alternate: a message at each second from 1 to 5, of which the third is a signal. */
  const seeded = Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const log = yield* EventLog
    const runs = [yield* createRun(), yield* createRun()]
    yield* sql`UPDATE runs SET source_ref = 'loans/fast@1', scenario_ref = 'Loans/Fast' WHERE id = ${runs[0] ?? ""}::uuid`
    yield* sql`UPDATE runs SET source_ref = 'loans/slow@1', scenario_ref = 'loans/slow_100%' WHERE id = ${runs[1] ?? ""}::uuid`
    for (const second of [1, 2, 3, 4, 5]) {
      for (const runId of runs) {
        const event = messageDraft(second, at(second), "", {
          type: second === 3 ? "signal.emitted" : "message.received"
        })
        yield* log.record({ runId, events: [event] })
      }
    }
    const { body } = yield* listed("/events", 12)
    return { runs, items: body.data }
  })
  const fixture = Effect.gen(function* () {
    cached ??= yield* seeded
    return cached
  })
  const fast = (item: Item) => item.runId === cached?.runs[0]

  it.effect("answers the envelope with the stored events of all runs, ascending by seq", () =>
    Effect.gen(function* () {
      const { items, runs } = yield* fixture
      const answer = yield* call("GET", "/events")
      assert.hasAllKeys(answer.body, ["data", "total", "limit"])
      assert.strictEqual(answer.body.limit, 500)
      assert.strictEqual(answer.body.total, 12)
      assert.deepStrictEqual(
        items.map((item) => item.seq),
        items.map((item) => item.seq).toSorted((left, right) => left - right)
      )
      assert.deepStrictEqual(new Set(items.map((item) => item.runId)), new Set<string>(runs))
      const sql = yield* PgClient.PgClient
      const rows = yield* sql<{
        readonly event: string
      }>`SELECT event::text AS event FROM canonical_events ORDER BY seq`
      assert.strictEqual(answer.text, `{"data":[${rows.map((row) => row.event).join(",")}],"total":12,"limit":500}`)
    })
  )

  // docs/reference/streams.md#cross-run-events
  const rows: ReadonlyArray<readonly [string, (item: Item) => boolean]> = [
    ["type=signal.emitted", (item) => item.type === "signal.emitted"],
    ["type=signal.emitted,%20run.created", (item) => ["signal.emitted", "run.created"].includes(item.type)],
    ["type=no.such.type", () => false],
    [`afterTs=${at(3)}`, (item) => item.ts >= at(3)],
    [`beforeTs=${at(3)}`, (item) => item.ts < at(3)],
    [`afterTs=${at(2)}&beforeTs=${at(4)}&type=message.received`, (item) => item.ts === at(2)],
    ["scenarioRef=loans/fast@1", fast],
    ["scenarioRef=LOANS/F", fast],
    ["scenarioRef=loans", () => true],
    ["scenarioRef=loans/slow@", () => false],
    ["scenarioRef=_100%25", (item) => !fast(item)],
    ["scenarioRef=fas_", () => false],
    ["scenarioRef=slow&type=signal.emitted", (item) => !fast(item) && item.type === "signal.emitted"],
    ["afterSeq=&type=&runId=&scenarioRef=&afterTs=", () => true]
  ]
  for (const [query, matches] of rows) {
    it.effect(`filters by ?${query}`, () =>
      Effect.gen(function* () {
        const { items } = yield* fixture
        const expected = items.filter(matches)
        const { body } = yield* call("GET", `/events?${query}`)
        assert.deepStrictEqual(body.data, expected)
        assert.strictEqual(body.total, expected.length)
        assert.notProperty(body, "nextCursor")
      })
    )
  }

  it.effect("filters by run, in any spelling of its id; an unknown run has no events", () =>
    Effect.gen(function* () {
      const { items, runs } = yield* fixture
      const { body } = yield* call("GET", `/events?runId=${runs[1]?.toUpperCase()}&afterSeq=${items[3]?.seq}`)
      assert.deepStrictEqual(
        body.data,
        items.slice(4).filter((item) => !fast(item))
      )
      const unknown = yield* call("GET", `/events?runId=${randomUUID()}`)
      assert.deepStrictEqual(unknown.body, { data: [], total: 0, limit: 500 })
    })
  )

  for (const filter of ["", "&type=message.received", "&scenarioRef=loans", `&afterTs=${at(0)}`]) {
    it.effect(`leads through all pages by nextCursor, which only full pages have (${filter})`, () =>
      Effect.gen(function* () {
        yield* fixture
        const { body: all } = yield* call("GET", `/events?limit=100${filter}`)
        const collected: Array<Item> = []
        let cursor: number | undefined = 0
        while (cursor !== undefined) {
          const { body }: Answer = yield* call("GET", `/events?limit=5&afterSeq=${cursor}${filter}`)
          assert.strictEqual(body.total, all.data.length - collected.length)
          assert.strictEqual("nextCursor" in body, body.data.length === 5)
          collected.push(...body.data)
          if (body.data.length === 5) assert.strictEqual(body.nextCursor, body.data.at(-1).seq)
          cursor = body.nextCursor
        }
        assert.deepStrictEqual(collected, all.data)
      })
    )
  }

  for (const query of [
    "runId=1",
    "runId=abcdefghijklmnopqrstuv",
    "limit=0",
    "limit=x",
    "afterSeq=-1",
    "afterTs=1",
    "beforeTs=x"
  ]) {
    it.effect(`refuses ?${query}`, () =>
      Effect.gen(function* () {
        const { body, status } = yield* call("GET", `/events?${query}`)
        assert.strictEqual(status, 400)
        assert.strictEqual(body.errorCode, "VALIDATION_ERROR")
        assert.isArray(body.message)
      })
    )
  }

  it.effect("has no greatest limit", () =>
    Effect.gen(function* () {
      yield* fixture
      const count = 2 * EVENTS_PER_READ
      yield* appendMessages(yield* createRun(), count, 500)
      const answer = yield* listed("/events?limit=1000000", count + 13)
      assert.lengthOf(answer.body.data, count + 13)
      assert.strictEqual(answer.body.total, count + 13)
      const exact = yield* call("GET", `/events?limit=${count}`)
      assert.lengthOf(exact.body.data, count)
      assert.strictEqual(exact.body.total, count + 13)
      assert.strictEqual(exact.body.nextCursor, exact.body.data.at(-1).seq)
    })
  )
})

layer(layerTestService({ settings: { AUTH_API_KEYS: "secret" } }), { excludeTestServices: true })("with keys", (it) => {
  it.effect("GET /events wants a key as the endpoint of a run does", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* call("GET", "/events")).status, 401)
      assert.strictEqual((yield* call("GET", "/events", { headers: { authorization: "Bearer secret" } })).status, 200)
    })
  )
})
