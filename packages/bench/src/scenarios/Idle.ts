import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import type { Outcome } from "../Figures.ts"
import { inFreshSurroundings, withControlPlane } from "../FreshWorld.ts"
import { within } from "../Measurement.ts"
import type { IdleLoad } from "../Plan.ts"
import { number } from "../Report.ts"
import { ControlPlaneProcess } from "../service/ControlPlaneProcess.ts"
import { ServiceForm } from "../service/ServiceForm.ts"

export interface IdleFound {
  readonly load: IdleLoad
  /** Seconds from its start until it was ready, once it is started anew on a database that knows it. */
  readonly ready: number
  /** The same on an empty database, whose tables it makes. */
  readonly firstReady: number
  /** MiB. */
  readonly resident: number
  /** Share of a core. */
  readonly cpu: number
}

const BYTES_PER_MIB = 1024 * 1024
const MILLIS_PER_SECOND = 1_000
const POLL_MS = 5

/** A service without requests. The first of its two starts also fills the cache of compiled code. */
export const idle = Effect.fn("Idle.measure")(function* (load: IdleLoad) {
  const form = load.form === "bundle" ? ServiceForm.layerBundle : ServiceForm.layerSource
  return yield* inFreshSurroundings(
    Effect.gen(function* () {
      const { ready: firstReady } = yield* Effect.scoped(withControlPlane(readiness))
      const rest = yield* Effect.scoped(withControlPlane(watched(load)))
      const found: IdleFound = { load, firstReady, ...rest }
      return found
    })
  ).pipe(Effect.provide(Layer.fresh(form)))
})

const readiness = Effect.gen(function* () {
  const { headers, startedFor, url } = yield* ControlPlaneProcess
  const probe = Effect.tryPromise(async (signal) => (await fetch(`${url}/readyz`, { headers, signal })).status)
  const isReady = Effect.orElseSucceed(
    Effect.map(probe, (status) => status === 200),
    () => false
  )
  yield* within(
    "the service is ready",
    Effect.repeat(isReady, { until: (ready) => ready, schedule: Schedule.spaced(POLL_MS) })
  )
  return { ready: (yield* startedFor) / MILLIS_PER_SECOND }
})

const watched = Effect.fnUntraced(function* ({ seconds }: IdleLoad) {
  const { usage } = yield* ControlPlaneProcess
  const { ready } = yield* readiness
  const before = yield* usage
  yield* Effect.sleep(Duration.seconds(seconds))
  const after = yield* usage
  return {
    ready,
    resident: after.residentBytes / BYTES_PER_MIB,
    cpu: (after.cpuSeconds - before.cpuSeconds) / seconds
  }
})

export const idleOutcome = ({ cpu, firstReady, load, ready, resident }: IdleFound): Outcome => {
  const scenario = load.form === "bundle" ? "idle service, bundled" : "idle service from source"
  const { aims } = load
  return {
    scenario,
    line:
      `${scenario}: ready after ${number(ready)} s (${number(firstReady)} s with an empty database), ` +
      `${number(resident)} MiB and ${number(cpu * 100)} % of a core after ${load.seconds} s`,
    figures: [
      { name: "ready", value: ready, unit: "s", better: "less", ...(aims && { aim: aims.ready }) },
      { name: "ready with an empty database", value: firstReady, unit: "s", better: "less" },
      { name: "memory", value: resident, unit: "MiB", better: "less", ...(aims && { aim: aims.memory }) },
      { name: "CPU", value: cpu * 100, unit: "%", better: "less" }
    ]
  }
}
