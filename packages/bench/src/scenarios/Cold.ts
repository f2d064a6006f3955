import * as Effect from "effect/Effect"
import type { Outcome } from "../Figures.ts"
import { inFreshSurroundings, withControlPlane } from "../FreshWorld.ts"
import { type Cost, costFigures, costInWords, measured } from "../Measurement.ts"
import type { ColdLoad } from "../Plan.ts"
import { number } from "../Report.ts"
import { RuntimeProcess } from "../runtime/RuntimeProcess.ts"
import { awaitEnvelopes, closeFleet, openFleet } from "./Fleet.ts"

export interface ColdFound {
  readonly load: ColdLoad
  readonly cold: Cost
  /** The same once more in the same process. */
  readonly warm: Cost
}

/** The first history that a fresh process stores, and beside it the same after many others. */
export const cold = Effect.fn("Cold.measure")(function* (load: ColdLoad) {
  return yield* inFreshSurroundings(
    withControlPlane(
      Effect.gen(function* () {
        const first = yield* oneRun(load.envelopes)
        for (let round = 0; round < load.warmUps; round++) yield* oneRun(load.envelopes)
        const found: ColdFound = { load, cold: first, warm: yield* oneRun(load.envelopes) }
        return found
      })
    )
  )
})

const oneRun = Effect.fnUntraced(function* (envelopes: number) {
  const runtime = yield* RuntimeProcess
  const fleet = yield* openFleet(1, envelopes)
  const { cost } = yield* measured(
    Effect.andThen(runtime.run({ _tag: "Release", sessions: fleet.sessions }), awaitEnvelopes(fleet, envelopes))
  )
  yield* closeFleet(fleet)
  return cost
})

export const coldOutcome = ({ cold, load, warm }: ColdFound): Outcome => {
  const scenario = `cold 1 x ${load.envelopes}`
  const rate = load.envelopes / cold.seconds
  const warmRate = load.envelopes / warm.seconds
  return {
    scenario,
    line:
      `${scenario}: ${number(rate)} envelopes/s in a fresh process, ${number(warmRate)} envelopes/s after ` +
      `${load.warmUps + 1} such runs, ${costInWords(cold)}`,
    figures: [
      { name: "envelopes", value: rate, unit: "/s", better: "more", ...(load.aim !== undefined && { aim: load.aim }) },
      { name: "share of warm", value: rate / warmRate, unit: "", better: "more" },
      ...costFigures(cold)
    ]
  }
}
