import { assert, layer } from "@effect/vitest"
import { createDatabase, request, slowness } from "@runplane/testing"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { layerDatabase } from "../../src/platform/postgres/Database.ts"
import { connect } from "../features/mcp/Clients.ts"
import { ScriptedRuntime } from "../support/ScriptedRuntime.ts"
import { type Seeded, seedLargeRuns } from "./support/FairReadSeeds.ts"
import { HEAVY_READS, type HeavyRead } from "./support/HeavyReads.ts"
import { startService } from "./support/ServiceProcess.ts"

const [MANY, OTHER] = ["key-many-1234567890", "key-other-0987654321"]
const RUNS = 12
const EVENTS = 3_000
const AT_ONCE = 40
/**
 * How long the other caller waits for an answer, and how long a step of the process takes, on an idle machine. The aim
 * of a step is 50 ms; collections of garbage fall into it, so a try may have twice as much (docs/internals/scale.md).
 */
const LONGEST_WAIT_MS = 1_000
const LONGEST_STEP_MS = 100
/** Pairs of requests of the other caller beside the many. */
const PAIRS = 4
/** A pause of the machine does not repeat itself, one of the service does. */
const TRIES = 3

/** The service with large runs. */
class Service extends Context.Service<
  Service,
  Seeded & {
    readonly send: (key: string, read: HeavyRead, number: number) => Effect.Effect<{ status: number; text: string }>
    /** The longest turn of the event loop since the call before. Milliseconds. */
    readonly longestStep: Effect.Effect<number>
  }
>()("FairReads/Service") {
  static readonly layer = Layer.effect(
    Service,
    Effect.gen(function* () {
      const databaseUrl = yield* createDatabase
      const runtime = yield* ScriptedRuntime.start
      const service = yield* startService({
        AUTH_API_KEYS: `${MANY},${OTHER}`,
        AUTH_API_KEY_NAMES: "many,other",
        DATABASE_URL: databaseUrl,
        RUNTIME_ADDRESS: runtime.address,
        THROTTLE_LIMIT: "1000000",
        MCP_MAX_CONCURRENCY: "100",
        STREAM_MAX_PER_KEY: "200",
        NODE_OPTIONS: `--import=${new URL("support/LoopProbe.ts", import.meta.url)}`
      })
      const url = yield* service.url
      const tools = yield* connect(url, { key: MANY })
      const seeded = yield* seedLargeRuns(RUNS, EVENTS).pipe(
        Effect.scoped,
        Effect.provide(layerDatabase({ url: databaseUrl, maxConnections: 2 }))
      )
      let prints = 0
      return Service.of({
        ...seeded,
        send: (key, { body, isTool, method = "GET", path }, number) =>
          isTool
            ? Effect.map(
                Effect.orDie(tools.call(path(seeded, number), { ...Object(body?.(seeded, number)) })),
                ({ isError, text }) => ({ status: isError ? 500 : 200, text })
              )
            : request(method, `${url}${path(seeded, number)}`, {
                headers: { "x-api-key": key, accept: "application/json, text/event-stream, */*", connection: "close" },
                ...(body !== undefined && { body: body(seeded, number) })
              }),
        longestStep: Effect.gen(function* () {
          prints += 1
          process.kill(service.pid, "SIGUSR2")
          const line = yield* service.line(new RegExp(`^step ${prints}: `))
          return Number(/: ([\d.]+) ms/.exec(line ?? "")?.[1])
        })
      })
    })
  )
}

/** How long the other caller waits for a run and its forecast. Milliseconds. */
const pairOfWaits = Effect.gen(function* () {
  const { send, small } = yield* Service
  return yield* Effect.forEach([`/runs/${small}`, `/runs/${small}/forecast`], (path) =>
    Effect.gen(function* () {
      const begun = performance.now()
      const { status, text } = yield* send(OTHER, { path: () => path }, 0)
      assert.strictEqual(status, 200, text)
      return performance.now() - begun
    })
  )
})

/** One caller sends a heavy read many times at once, and the other its requests: its longest wait, and the step. */
const beside = Effect.fnUntraced(function* (read: HeavyRead) {
  const { longestStep, send } = yield* Service
  yield* longestStep
  const { times = AT_ONCE, toItsEnd = false } = read
  let answers = 0
  const numbers = Array.from({ length: times }, (_, number) => number)
  const many = yield* Effect.forkChild(
    Effect.forEach(numbers, (number) => Effect.tap(send(MANY, read, number), () => Effect.sync(() => answers++)), {
      concurrency: "unbounded"
    }),
    { startImmediately: true }
  )
  const waits: Array<number> = []
  while (waits.length < 2 * PAIRS || (toItsEnd && answers === 0)) waits.push(...(yield* pairOfWaits))
  yield* Fiber.interrupt(many)
  return { step: yield* longestStep, wait: Math.max(...waits) }
})

// docs/reference/http.md#turns
layer(Service.layer, { excludeTestServices: true, timeout: 120_000 })(
  "beside the many heavy reads of a caller another waits for less than a second, and no step is long",
  (it) => {
    for (const [name, read] of Object.entries(HEAVY_READS)) {
      it.effect(
        name,
        () =>
          Effect.gen(function* () {
            const { send } = yield* Service
            for (let warm = 0; warm < 3; warm++) yield* pairOfWaits
            if (!read.isOpen) {
              const { status, text } = yield* send(MANY, read, 0)
              assert.oneOf(status, [200, 201], text)
            }
            const said: Array<string> = []
            for (let tried = 0; tried < TRIES; tried++) {
              const slow = yield* slowness
              const { step, wait } = yield* beside(read)
              said.push(`waited ${Math.round(wait)} ms, step of ${Math.round(step)} ms, slowness ${slow.toFixed(1)}`)
              process.stdout.write(`${name}: ${said.at(-1)}\n`)
              if (wait < LONGEST_WAIT_MS * slow && step < LONGEST_STEP_MS * slow) return
            }
            assert.fail(said.join("; "))
          }),
        120_000
      )
    }
  }
)
