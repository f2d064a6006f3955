import { randomUUID } from "node:crypto"
import { fileURLToPath } from "node:url"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import { createDatabase, request, slowness, startProgram, until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { layerDatabase } from "../../src/platform/postgres/Database.ts"
import { descriptor } from "../support/HttpService.ts"
import { ScriptedRuntime } from "../support/ScriptedRuntime.ts"
import { startService } from "./support/ServiceProcess.ts"
import type { StreamCrowd } from "./support/StreamClients.ts"

const CLIENTS = fileURLToPath(new URL("./support/StreamClients.ts", import.meta.url))

/** The default limits of a process and of a key. */
const STREAM_MAX = 2_000
const STREAM_MAX_PER_KEY = 200
/** As many keys as fill a process, and one more. */
const KEYS = Array.from({ length: STREAM_MAX / STREAM_MAX_PER_KEY + 1 }, (_, number) => `key-${number}`)
const [FIRST_KEY = ""] = KEYS
const LAST_KEY = KEYS.at(-1) ?? ""
/** The ended runs of the streams, and the envelopes of each. */
const RUNS = 20
const LENGTH = 200
/** An observed session long enough to go on for all of a test. */
const OBSERVED_LENGTH = 100_000
const POOL = 20
/** The connections that streams may use (docs/reference/streams.md#stream-reads). */
const STREAM_CONNECTIONS = POOL / 4
/** Streams that wait for a locked database. */
const HERD = 800

/**
 * The longest time of other work: storing an envelope, auditing a change, reading the health. Far below the pause of a
 * service whose streams may use all connections. Milliseconds, on an idle machine.
 */
const PATIENCE_MS = 10_000
/** Limit of processor time of the service to open a stream and send its backlog, milliseconds. */
const CPU_MS = 15

const as = (key: string) => ({ authorization: `Bearer ${key}` })

/** A service as in production that has read nothing yet, and runs whose histories are stored. */
const startWorld = Effect.gen(function* () {
  const databaseUrl = yield* createDatabase
  const runtime = yield* ScriptedRuntime.start
  const start = startService({
    AUTH_API_KEYS: KEYS.join(","),
    DATABASE_URL: databaseUrl,
    DB_POOL_MAX: String(POOL),
    RUNTIME_ADDRESS: runtime.address,
    THROTTLE_LIMIT: "1000000"
  })
  /** A run with a session of the runtime. */
  const follow = Effect.fnUntraced(function* (url: string, length: number) {
    const sessionId = randomUUID()
    runtime.openSession(sessionId, length)
    const body = descriptor({ runtime: { kind: "rust" }, session: { sessionId } })
    const { status, text } = yield* request("POST", `${url}/runs`, { headers: as(FIRST_KEY), body })
    assert.strictEqual(status, 202, text)
    yield* until(
      Effect.sync(() => runtime.open.get(sessionId)),
      (observers) => observers === 1
    )
    return sessionId
  })

  const first = yield* start
  const firstUrl = yield* first.url
  const sessions = yield* Effect.forEach(Array.from({ length: RUNS }), () => follow(firstUrl, LENGTH))
  for (const sessionId of sessions) runtime.accept(sessionId, LENGTH)
  const runs = yield* until(
    inDatabase(
      databaseUrl,
      Effect.flatMap(
        PgClient.PgClient,
        (sql) => sql<{ readonly runId: string; readonly lastSeq: number }>`
          SELECT run_id::text AS "runId", last_seq::int AS "lastSeq"
          FROM run_heads JOIN runs ON id = run_id WHERE status = 'completed'`
      )
    ),
    ({ length }) => length === RUNS
  )
  assert.strictEqual((yield* first.kill("SIGTERM")).code, 0, first.output().slice(-4_000))

  const service = yield* start
  yield* Effect.addFinalizer((exit) =>
    Effect.sync(() => exit._tag === "Failure" && console.error(service.output().slice(-4_000)))
  )
  const url = yield* service.url
  const call = (method: string, path: string, body?: unknown, key = FIRST_KEY) =>
    request(method, `${url}${path}`, { headers: as(key), ...(body === undefined ? {} : { body }) })

  /** Clients in a process of their own that open so many streams, spread over the runs and all keys but the last. */
  const openStreams = (count: number, atOnce: number) => {
    const port = Number(new URL(url).port)
    const crowd: StreamCrowd = { port, count, atOnce, keys: KEYS.slice(0, -1), runs }
    return startProgram(CLIENTS, { args: [JSON.stringify(crowd)], env: { PATH: process.env["PATH"] } })
  }
  return { call, databaseUrl, follow: follow(url, OBSERVED_LENGTH), openStreams, runtime, service, url }
})

const inDatabase = <A, E>(url: string, effect: Effect.Effect<A, E, PgClient.PgClient>) =>
  Effect.provide(effect, layerDatabase({ url, maxConnections: 2 }))

/** Seconds of processor time that the service has used. */
const cpuSeconds = (url: string) =>
  Effect.map(request("GET", `${url}/metrics`), ({ text }) =>
    Number(/^process_cpu_seconds_total(?:\{[^}]*\})? (\S+)$/m.exec(text)?.[1])
  )

const timed = <A, E, R>(effect: Effect.Effect<A, E, R>, times: Array<number>) =>
  Effect.suspend(() => {
    const startedAt = performance.now()
    return Effect.tap(effect, () => Effect.sync(() => times.push(performance.now() - startedAt)))
  })

const worst = (times: ReadonlyArray<number>) => Math.ceil(Math.max(...times))

describe(`${STREAM_MAX} event streams`, () => {
  it.live("open beside an observed run, the audit log and the health, and one more is rejected", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { call, databaseUrl, follow, openStreams, runtime, url } = yield* startWorld
        yield* Effect.gen(function* () {
          const sql = yield* PgClient.PgClient
          const observed = yield* follow
          const stored: Array<number> = []
          const audited: Array<number> = []
          const healthy: Array<number> = []
          const observing = Effect.gen(function* () {
            const ordinal = stored.length + 2
            runtime.accept(observed, ordinal)
            yield* until(
              sql`SELECT FROM outbound_messages WHERE run_id = ${observed}::uuid AND message_id = ${`message-${ordinal}`}`,
              ({ length }) => length === 1
            )
          })
          const auditing = Effect.gen(function* () {
            const { body, status } = yield* call("POST", "/webhooks", { url: "https://192.0.2.1/", secret: "s" })
            assert.strictEqual(status, 201, JSON.stringify(body))
            const { body: audit } = yield* call("GET", `/audit?action=webhook.create&resourceId=${body.id}`)
            assert.strictEqual(audit.total, 1, JSON.stringify(audit))
          })
          const asking = Effect.gen(function* () {
            assert.strictEqual((yield* request("GET", `${url}/healthz`)).status, 200)
          })
          const probes = yield* Effect.forEach(
            [timed(observing, stored), timed(auditing, audited), timed(asking, healthy)],
            (probe) => Effect.forkChild(Effect.forever(Effect.andThen(probe, Effect.sleep(100))))
          )

          const before = yield* cpuSeconds(url)
          const startedAt = performance.now()
          const clients = yield* openStreams(STREAM_MAX, 400)
          const isRead = yield* clients.line(`read ${STREAM_MAX}`)
          const elapsed = performance.now() - startedAt
          const cpu = ((yield* cpuSeconds(url)) - before) / (STREAM_MAX / 1_000)
          assert.isDefined(isRead, clients.output())

          // With all streams open, appends, audits and health reads continue.
          const then = [stored, audited, healthy].map(({ length }) => length)
          yield* until(
            Effect.sync(() => [stored, audited, healthy].every(({ length }, index) => length > (then[index] ?? 0) + 1)),
            (all) => all
          )
          const figures =
            `${STREAM_MAX} streams in ${elapsed.toFixed(0)} ms, ${cpu.toFixed(2)} ms of processor each; ` +
            `stored within ${worst(stored)} ms (${stored.length}), audited within ${worst(audited)} ms ` +
            `(${audited.length}), healthy within ${worst(healthy)} ms (${healthy.length})`
          yield* Effect.logInfo(figures)
          const patience = PATIENCE_MS * (yield* slowness)
          for (const times of [stored, audited, healthy]) assert.isBelow(worst(times), patience, figures)
          assert.isBelow(cpu, CPU_MS, figures)

          const ofKey = yield* call("GET", `/runs/${observed}/stream`)
          assert.strictEqual(ofKey.status, 429, ofKey.text)
          assert.strictEqual(ofKey.headers.get("retry-after"), "10")
          const inAll = yield* call("GET", `/runs/${observed}/stream`, undefined, LAST_KEY)
          assert.strictEqual(inAll.status, 503, inAll.text)
          assert.strictEqual(inAll.headers.get("retry-after"), "10")
          assert.notMatch(clients.output(), /rejected|broken|ended/)
          for (const probe of probes) assert.isUndefined(probe.pollUnsafe(), figures)
          for (const probe of probes) yield* Fiber.interrupt(probe)
        }).pipe(Effect.provide(layerDatabase({ url: databaseUrl, maxConnections: 2 })))
      })
    )
  )

  it.live("that wait for the database leave most of the pool to others, and share reads", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { call, databaseUrl, openStreams, service, url } = yield* startWorld
        yield* Effect.gen(function* () {
          const sql = yield* PgClient.PgClient
          const scans = Effect.map(
            sql<{ readonly scans: number }>`
              SELECT (idx_scan + seq_scan)::int AS scans FROM pg_stat_user_tables WHERE relname = 'canonical_events'`,
            ([row]) => row?.scans ?? 0
          )
          const stuck = Effect.map(
            sql<{ readonly count: number }>`
              SELECT count(*)::int AS count FROM pg_locks
              WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
            ([row]) => row?.count ?? 0
          )
          const beside: Array<number> = []
          const before = yield* scans
          const clients = yield* sql.withTransaction(
            Effect.gen(function* () {
              // The first read of a stream is the state of its run.
              yield* sql`LOCK TABLE projections IN ACCESS EXCLUSIVE MODE`
              const clients = yield* openStreams(HERD, HERD)
              assert.isDefined(yield* clients.line(`connected ${HERD}`), clients.output())
              // One statement reads several states, so the streams use fewer connections than they may.
              yield* until(stuck, (count) => count > 0)
              for (const _ of Array.from({ length: 20 })) {
                const { body, status } = yield* timed(
                  call("POST", "/webhooks", { url: "https://192.0.2.1/", secret: "s" }),
                  beside
                )
                assert.strictEqual(status, 201, JSON.stringify(body))
                assert.strictEqual((yield* timed(request("GET", `${url}/healthz`), beside)).status, 200)
                assert.isAtMost(yield* stuck, STREAM_CONNECTIONS)
              }
              assert.isAtLeast(yield* stuck, 1)
              return clients
            })
          )
          assert.isDefined(yield* clients.line(`read ${HERD}`), clients.output())
          assert.isBelow(worst(beside), PATIENCE_MS * (yield* slowness))
          // A server process reports its statistics at its end at the latest.
          yield* service.kill("SIGTERM")
          yield* until(
            sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
            ({ length }) => length === 0
          )
          const found = (yield* scans) - before
          yield* Effect.logInfo(`${HERD} streams looked up ${found} events; others waited ${worst(beside)} ms at most`)
          // Each stream by itself would look up each event at least once.
          assert.isAtLeast(found, RUNS * LENGTH)
          assert.isBelow(found, (HERD * LENGTH) / 2)
        }).pipe(Effect.provide(layerDatabase({ url: databaseUrl, maxConnections: 1 })))
      })
    )
  )
})
