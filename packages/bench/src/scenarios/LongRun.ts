import * as Effect from "effect/Effect"
import type { Outcome } from "../Figures.ts"
import { type Cost, measured } from "../Measurement.ts"
import type { LongRunLoad } from "../Plan.ts"
import { number } from "../Report.ts"
import { RuntimeProcess } from "../runtime/RuntimeProcess.ts"
import { awaitEnvelopes, closeFleet, openFleet } from "./Fleet.ts"

export interface LongRunFound {
  readonly load: LongRunLoad
  /** One for each part of the run, in its order. */
  readonly costs: ReadonlyArray<Cost>
}

const BYTES_PER_MIB = 1024 * 1024
const MICROS_PER_SECOND = 1e6

/** One run whose history grows and grows, in equal parts: what an envelope costs in the first, and in the last. */
export const longRun = Effect.fn("LongRun.measure")(function* (load: LongRunLoad) {
  const runtime = yield* RuntimeProcess
  const fleet = yield* openFleet(1, load.envelopes)
  const costs: Array<Cost> = []
  for (let part = 1; part <= load.parts; part++) {
    const upTo = Math.round((load.envelopes * part) / load.parts)
    const { cost } = yield* measured(
      Effect.andThen(runtime.run({ _tag: "Release", sessions: fleet.sessions, upTo }), awaitEnvelopes(fleet, upTo))
    )
    costs.push(cost)
  }
  yield* closeFleet(fleet)
  const found: LongRunFound = { load, costs }
  return found
})

export const longRunOutcome = ({ costs, load }: LongRunFound): Outcome => {
  const scenario = `one run of ${number(load.envelopes)}`
  const each = costs.map(
    ({ databaseCpu = 0, serviceCpu }) => ((serviceCpu + databaseCpu) * MICROS_PER_SECOND * load.parts) / load.envelopes
  )
  const seconds = costs.reduce((sum, cost) => sum + cost.seconds, 0)
  // The first part is written by compilers that are still at work.
  const early = each[1] ?? each[0] ?? Number.NaN
  const late = each.at(-1) ?? Number.NaN
  const peak = (costs.at(-1)?.peakBytes ?? Number.NaN) / BYTES_PER_MIB
  const { aims } = load
  return {
    scenario,
    line:
      `${scenario}: ${number(load.envelopes / seconds)} envelopes/s, CPU of an envelope with the database ` +
      `${each.map(number).join(" ")} us in ${load.parts} parts, peak ${number(peak)} MiB`,
    figures: [
      { name: "envelopes", value: load.envelopes / seconds, unit: "/s", better: "more" },
      { name: "CPU of an early envelope", value: early, unit: "us", better: "less" },
      { name: "CPU of a late envelope", value: late, unit: "us", better: "less" },
      { name: "late to early", value: late / early, unit: "", better: "less", ...(aims && { aim: aims.growth }) },
      {
        name: "control plane peak memory",
        value: peak,
        unit: "MiB",
        better: "less",
        ...(aims && { aim: aims.memory })
      }
    ]
  }
}
