import { randomInt } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { exchange, until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { runOfKey } from "../../../src/features/ingest/TraceRuns.ts"
import { baseUrl, call, layerTestService } from "../../support/HttpService.ts"
import { exportOf, post, span, traceIdOf } from "./support/Exports.ts"
import { hostileExport } from "./support/HostileExports.ts"

/** Requests of one test run; `OTLP_FUZZ_REQUESTS=10000` is the long form. */
const REQUESTS = Number(process.env["OTLP_FUZZ_REQUESTS"] || 300)
/** Sends the requests of an earlier test run again. */
const SEED = Number(process.env["OTLP_FUZZ_SEED"] || randomInt(2 ** 31))
const CONCURRENCY = 8
const TIME_LIMIT_MS = 60_000 + REQUESTS * 150
/** Share of the requests that are received: otherwise they prove little. */
const LEAST_ACCEPTED = 0.1
/** Growth of the resident set of this process, in which the service runs. */
const MOST_GROWTH = 384 * 1024 * 1024

/** What a request without a fault of the service is answered with. */
const EXPECTED: ReadonlySet<number> = new Set([200, 400, 401, 405, 413, 415, 417, 431])

const settings = {
  OTLP_MAX_BODY_BYTES: "65536",
  OTLP_SETTLE_MS: "300",
  OTLP_IDLE_MS: "1000",
  OTLP_PARENT_WAIT_MS: "1000"
}

layer(layerTestService({ settings }), { excludeTestServices: true })("No export, however hostile,", (it) => {
  it.effect(
    `gives a 5xx or fills the memory (${REQUESTS} requests, OTLP_FUZZ_SEED=${SEED})`,
    () =>
      Effect.gen(function* () {
        const port = Number(new URL(yield* baseUrl).port)
        const before = process.memoryUsage.rss()
        let peak = before
        let accepted = 0
        const faults: Array<string> = []
        yield* Effect.forEach(
          Array.from({ length: REQUESTS }, (_, number) => number),
          Effect.fnUntraced(function* (number) {
            const request = hostileExport(SEED, number)
            const answer = yield* exchange(port, request)
            peak = Math.max(peak, process.memoryUsage.rss())
            if (answer?.status === 200) accepted += 1
            if (answer === undefined ? request.leaves !== true : !EXPECTED.has(answer.status)) {
              const body = Buffer.from(request.body ?? "").subarray(0, 2_000)
              faults.push(`${number}: ${answer?.status} ${answer?.text}\n${request.head}\n${body.toString("base64")}`)
            }
          }),
          { concurrency: CONCURRENCY, discard: true }
        )
        assert.deepStrictEqual(faults, [])
        assert.isAbove(accepted / REQUESTS, LEAST_ACCEPTED)
        assert.isBelow(peak - before, MOST_GROWTH)

        yield* post(exportOf([span({ trace: 77, span: 1 })]))
        const run = call("GET", `/runs/${runOfKey("anonymous", traceIdOf(77))}`)
        yield* until(run, ({ body }) => body.status === "completed")
        yield* Effect.log(`${accepted} of ${REQUESTS} exports were received; memory grew by ${peak - before} bytes`)
      }),
    TIME_LIMIT_MS
  )
})
