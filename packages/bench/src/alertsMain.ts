/*
 * What 1,000 alert rules cost on 1,000 events a second, and how much slower appends are beside them
 * (docs/internals/scale.md#alerts).
 */

import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { RUNPLANE_VERSION } from "@runplane/api"
import * as Console from "effect/Console"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { BenchDatabase } from "./BenchDatabase.ts"
import { inFreshSurroundings, withControlPlane } from "./FreshWorld.ts"
import type { Cost } from "./Measurement.ts"
import { number } from "./Report.ts"
import { latency } from "./scenarios/Latency.ts"
import { throughput } from "./scenarios/Throughput.ts"
import { ControlPlaneProcess } from "./service/ControlPlaneProcess.ts"
import { ServiceForm } from "./service/ServiceForm.ts"

const RUNS = 20
const EVENTS_PER_SECOND = 1_000
const FLEET = { runs: 32, envelopes: 500, subscribers: 0 }

/** Searches of the rules: a run matches one in this many rules. */
const SEARCHES = 20
const KINDS = [
  { measure: "costUsd", per: "all", window: "month" },
  { measure: "tokens", per: "scenario", window: "day" },
  { measure: "events", per: "run", window: "run" },
  { measure: "events", per: "agent", window: "1h" },
  { measure: "denials", per: "all", window: "week" },
  { measure: "failureRate", per: "environment", window: "24h" },
  { measure: "repeats", per: "run", window: "run" },
  { measure: "silenceMs", per: "run", window: "run" },
  { measure: "llmCalls", per: "model", window: "day" },
  { measure: "mindChanges", per: "run", window: "run" }
]

class RuleRefused extends Data.TaggedError("RuleRefused")<{ readonly message: string }> {}

/** Rules that evaluate everything and never fire. */
const addRules = Effect.fnUntraced(function* (count: number) {
  const service = yield* ControlPlaneProcess
  yield* Effect.forEach(
    Array.from({ length: count }, (_, index) => index),
    (index) =>
      Effect.tryPromise({
        try: async () => {
          const search = index % SEARCHES
          const body = {
            ...{ id: `rule-${index}`, name: `Rule ${index}`, ...KINDS[index % KINDS.length] },
            match: search === 0 ? "" : `environment:e${search}`,
            levels: [{ at: 1e12, severity: "info", actions: [] }]
          }
          const answer = await fetch(`${service.url}/alerts/rules`, {
            method: "POST",
            headers: { ...service.headers, "content-type": "application/json" },
            body: JSON.stringify(body)
          })
          const text = await answer.text()
          if (answer.status !== 201) throw new Error(text)
        },
        catch: (cause) => new RuleRefused({ message: String(cause) })
      }),
    { concurrency: 4, discard: true }
  )
})

/** CPUs of the service and of the database. */
const cpus = ({ databaseCpu = 0, seconds, serviceCpu }: Cost) => [serviceCpu / seconds, databaseCpu / seconds] as const

const measure = Effect.fnUntraced(function* (seconds: number) {
  const paced = yield* latency({ runs: RUNS, subscribers: 1, eventsPerSecond: EVENTS_PER_SECOND, seconds })
  const fast = yield* throughput(FLEET)
  return {
    cpus: cpus(paced.cost),
    p50: paced.times.settled.p50,
    perSecond: (FLEET.runs * FLEET.envelopes) / fast.cost.seconds
  }
})

const program = Effect.fnUntraced(function* (rules: number, seconds: number) {
  const inProcess = Effect.gen(function* () {
    // The first one compiles the code of the service.
    yield* measure(2)
    const without = yield* measure(seconds)
    yield* addRules(rules)
    yield* measure(2)
    const beside = yield* measure(seconds)
    const [service, database] = [0, 1].map((part) => (beside.cpus[part] ?? 0) - (without.cpus[part] ?? 0))
    yield* Console.log(
      `${rules} rules on ${EVENTS_PER_SECOND} events/s: ${number(service ?? 0)} CPUs more in the service, ` +
        `${number(database ?? 0)} in the database; p50 of events ${number(without.p50)} and ${number(beside.p50)} ms; ` +
        `appends at full speed ${number(without.perSecond)} and ${number(beside.perSecond)} envelopes/s`
    )
  })
  yield* Effect.scoped(inFreshSurroundings(withControlPlane(inProcess)))
})

const command = Command.make(
  "npm run bench:alerts --",
  {
    rules: Flag.Int("rules").pipe(Flag.withDescription("Alert rules"), Flag.withDefault(1_000)),
    seconds: Flag.Int("seconds").pipe(Flag.withDescription("Of the even pace"), Flag.withDefault(15)),
    source: Flag.Boolean("source").pipe(
      Flag.withDescription("The service from source instead of its bundle"),
      Flag.withDefault(false)
    )
  },
  ({ rules, seconds, source }) =>
    program(rules, seconds).pipe(
      Effect.scoped,
      Effect.provide([BenchDatabase.layer, source ? ServiceForm.layerSource : ServiceForm.layerBundle])
    )
).pipe(Command.withDescription("Measures alert rules: their CPU, and appends beside them."))

NodeRuntime.runMain(Command.run(command, { version: RUNPLANE_VERSION }).pipe(Effect.provide(NodeServices.layer)))
