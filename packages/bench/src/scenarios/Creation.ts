import * as Effect from "effect/Effect"
import { RunsClient } from "../client/RunsClient.ts"
import type { Outcome } from "../Figures.ts"
import { type Cost, costFigures, costInWords, measured, within } from "../Measurement.ts"
import type { CreationLoad } from "../Plan.ts"
import { number } from "../Report.ts"
import { RuntimeProcess } from "../runtime/RuntimeProcess.ts"
import { type Spread, spreadOf } from "../Statistics.ts"
import { closeFleet } from "./Fleet.ts"

export interface CreationFound {
  readonly load: CreationLoad
  /** Milliseconds of each `POST /runs` that was accepted. */
  readonly millis: Spread
  /** Why the others were not. */
  readonly failures: ReadonlyArray<string>
  readonly cost: Cost
}

/**
 * Creates runs at once, round after round; their sessions are open, so each is bound and subscribed while the next ones
 * come.
 */
export const creation = Effect.fn("Creation.measure")(function* (load: CreationLoad) {
  const { cost, value } = yield* measured(
    Effect.forEach(Array.from({ length: load.rounds }), () => createRound(load.atOnce))
  )
  const found: CreationFound = {
    load,
    millis: spreadOf(value.flatMap(({ millis }) => millis)),
    failures: value.flatMap(({ failures }) => failures),
    cost
  }
  return found
})

const createRound = Effect.fnUntraced(function* (count: number) {
  const runtime = yield* RuntimeProcess
  const client = yield* RunsClient
  const sessions = yield* client.newSessionIds(count)
  // Every session has its SessionStart.
  yield* runtime.run({ _tag: "Prepare", sessions, envelopes: 1 })
  yield* runtime.run({ _tag: "Release", sessions })
  const [created, failed] = yield* Effect.partition(
    sessions,
    (session) => Effect.map(client.create(session), (run) => ({ ...run, session })),
    { concurrency: "unbounded" }
  )
  const followed = created.map(({ session }) => session)
  yield* within("all sessions subscribed", runtime.run({ _tag: "AwaitSubscribed", sessions: followed }))
  yield* closeFleet({ sessions: followed, runIds: created.map(({ runId }) => runId) })
  return { millis: created.map(({ millis }) => millis), failures: failed.map(({ reason }) => reason) }
})

export const creationOutcome = ({ cost, failures, load, millis }: CreationFound): Outcome => {
  const scenario = `POST /runs ${load.atOnce} at once`
  const line =
    `${scenario}: ${failures.length} of ${millis.count + failures.length} failed, ` +
    `p50 ${number(millis.p50)}, p99 ${number(millis.p99)}, max ${number(millis.max)} ms, ${costInWords(cost)}` +
    (failures.length === 0 ? "" : ` (${failures[0]})`)
  return {
    scenario,
    line,
    figures: [
      { name: "failures", value: failures.length, unit: "", better: "less", aim: 0 },
      { name: "p50", value: millis.p50, unit: "ms", better: "less" },
      { name: "p99", value: millis.p99, unit: "ms", better: "less" },
      ...costFigures(cost)
    ]
  }
}
