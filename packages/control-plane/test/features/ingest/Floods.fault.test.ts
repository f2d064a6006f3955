import { readFileSync } from "node:fs"
import { gzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { createDatabase, type Flood, floodsOf, giantsOf, slowness } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { startService } from "../../faults/support/ServiceProcess.ts"
import { ScriptedRuntime } from "../../support/ScriptedRuntime.ts"
import { exportOf, postTo, span } from "./support/Exports.ts"

const ELEMENTS = 10_000_000
const GIANT_BYTES = 31_000_000
/** On a machine with nothing else to do. */
const LONGEST_ANSWER_MS = 200
const MOST_BYTES = 200_000_000
/** A pause of the machine does not repeat itself, one of the service does. */
const TRIES = 4
const AT_ONCE = 4

/** The service closes connections that are silent while this process compresses the next body. */
const ONCE = { connection: "close" }

/** The memory of a process, bytes. */
const residentBytes = (pid: number) => {
  const [, kilobytes] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? []
  return Number(kilobytes) * 1_024
}

/** Runs an effect while probes are sent: the slowest answer, and the most memory. */
const probed = Effect.fnUntraced(function* <A>(url: string, pid: number, effect: Effect.Effect<A>) {
  const seen = { slowestMs: 0, bytes: 0 }
  const probe = Effect.promise(async () => {
    const begun = performance.now()
    const answer = await fetch(`${url}/livez`, { headers: ONCE })
    await answer.arrayBuffer()
    seen.slowestMs = Math.max(seen.slowestMs, performance.now() - begun)
    seen.bytes = Math.max(seen.bytes, residentBytes(pid))
  })
  const probes = Effect.forever(Effect.andThen(probe, Effect.sleep(5)))
  const result = yield* Effect.raceFirst(effect, probes)
  return { ...seen, result: result as A }
})

const send = (url: string, { encoding, signal }: Flood, body: Uint8Array<ArrayBuffer>) =>
  postTo(url, body, {
    path: `/v1/${signal}`,
    headers: {
      "content-type": encoding === "json" ? "application/json" : "application/x-protobuf",
      "content-encoding": "gzip",
      ...ONCE
    }
  })

const packed = ({ body }: Flood) => Uint8Array.from(gzipSync(body(), { level: 1 }))

const started = Effect.gen(function* () {
  const runtime = yield* ScriptedRuntime.start
  const service = yield* startService({
    DATABASE_URL: yield* createDatabase,
    RUNTIME_ADDRESS: runtime.address,
    OTLP_EXPORT_LIMIT: "100000000",
    OTLP_SETTLE_MS: "200",
    // As the image and `npm start` have it: the memory is theirs.
    NODE_OPTIONS: "--max-semi-space-size=8"
  })
  const url = yield* service.url
  // Code that has run, and memory that it has used, as in a service that receives exports.
  for (let trace = 1; trace <= 50; trace++) yield* postTo(url, exportOf([span({ trace, span: 1 })]))
  return { url, pid: service.pid }
})

describe("the endpoint of exporters", () => {
  it.live(
    "answers a request of ten million empty elements with 413 or what was cut, and other callers at once",
    () =>
      Effect.gen(function* () {
        const { pid, url } = yield* started
        const rest = residentBytes(pid)
        for (const flood of [...floodsOf(ELEMENTS), ...giantsOf(GIANT_BYTES)]) {
          const body = packed(flood)
          let slowestMs = Number.POSITIVE_INFINITY
          const longestMs = LONGEST_ANSWER_MS * (yield* slowness)
          for (let tried = 0; tried < TRIES && slowestMs >= longestMs; tried++) {
            const seen = yield* probed(url, pid, send(url, flood, body))
            slowestMs = Math.min(slowestMs, seen.slowestMs)
            assert.isBelow(seen.bytes - rest, MOST_BYTES, flood.name)
            assert.strictEqual(seen.result.status, flood.becomes === "refused" ? 413 : 200, flood.name)
            if (flood.becomes === "cut") assert.include(seen.result.text, "dropped beyond the limits", flood.name)
          }
          yield* Effect.logInfo(`${flood.name}: the slowest answer took ${Math.round(slowestMs)} ms`)
          assert.isBelow(slowestMs, longestMs, flood.name)
        }
      }).pipe(Effect.scoped),
    900_000
  )

  it.live(
    "reads several such requests one after the other",
    () =>
      Effect.gen(function* () {
        const { pid, url } = yield* started
        const rest = residentBytes(pid)
        const floods = [...floodsOf(ELEMENTS), ...giantsOf(GIANT_BYTES)].filter(({ becomes }) => becomes === "cut")
        const bodies = floods.slice(0, AT_ONCE).map((flood) => ({ flood, body: packed(flood) }))
        const longestMs = LONGEST_ANSWER_MS * (yield* slowness)
        let slowestMs = Number.POSITIVE_INFINITY
        for (let tried = 0; tried < TRIES && slowestMs >= longestMs; tried++) {
          const all = Effect.forEach(bodies, ({ body, flood }) => send(url, flood, body), { concurrency: AT_ONCE })
          const seen = yield* probed(url, pid, all)
          slowestMs = Math.min(slowestMs, seen.slowestMs)
          assert.isBelow(seen.bytes - rest, MOST_BYTES)
          for (const { status } of seen.result) assert.strictEqual(status, 200)
        }
        assert.isBelow(slowestMs, longestMs)
      }).pipe(Effect.scoped),
    600_000
  )
})
