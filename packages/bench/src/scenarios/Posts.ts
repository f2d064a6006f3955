import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { RunsClient } from "../client/RunsClient.ts"
import type { Figure, Outcome } from "../Figures.ts"
import { type Cost, costFigures, costInWords, measured, within } from "../Measurement.ts"
import type { PostsLoad } from "../Plan.ts"
import { number } from "../Report.ts"
import { RuntimeProcess } from "../runtime/RuntimeProcess.ts"
import { type Spread, spreadOf } from "../Statistics.ts"
import { closeFleet } from "./Fleet.ts"

export interface PostsFound {
  readonly load: PostsLoad
  /** Milliseconds of each `POST /runs` that was accepted. */
  readonly millis: Spread
  /** Why the others were not. */
  readonly failures: ReadonlyArray<string>
  /** Of the requests that were accepted. */
  readonly perSecond: number
  /** From the first request until every run was bound and followed. */
  readonly cost: Cost
}

const NANOS_PER_SECOND = 1e9
const MILLIS_PER_SECOND = 1_000

/**
 * Creates runs, so many at once; their sessions are open and have nothing but their SessionStart, so each is bound and
 * followed while the next ones come. That they end is not measured.
 */
export const posts = Effect.fn("Posts.measure")(function* (load: PostsLoad) {
  const runtime = yield* RuntimeProcess
  const client = yield* RunsClient
  const sessions = yield* client.newSessionIds(load.runs)
  yield* runtime.run({ _tag: "Prepare", sessions, envelopes: 1 })
  yield* runtime.run({ _tag: "Release", sessions })
  const { cost, value } = yield* measured(
    Effect.gen(function* () {
      const started = yield* Clock.monotonicTimeNanos
      const [created, failed] = yield* Effect.partition(
        sessions,
        (session) => Effect.map(client.create(session), (run) => ({ ...run, session })),
        { concurrency: load.atOnce }
      )
      const seconds = Number((yield* Clock.monotonicTimeNanos) - started) / NANOS_PER_SECOND
      const followed = created.map(({ session }) => session)
      yield* within("all sessions followed", runtime.run({ _tag: "AwaitSubscribed", sessions: followed }))
      return { created, failed, followed, seconds }
    })
  )
  const { created, failed, followed, seconds } = value
  yield* closeFleet({ sessions: followed, runIds: created.map(({ runId }) => runId) })
  const found: PostsFound = {
    load,
    millis: spreadOf(created.map(({ millis }) => millis)),
    failures: failed.map(({ reason }) => reason),
    perSecond: created.length / seconds,
    cost
  }
  return found
})

export const postsOutcome = ({ cost, failures, load, millis, perSecond }: PostsFound): Outcome => {
  const { aims } = load
  const scenario = load.atOnce === 1 ? "POST /runs one after the other" : `POST /runs ${load.atOnce} at once`
  const each = ((cost.serviceCpu + (cost.databaseCpu ?? 0)) * MILLIS_PER_SECOND) / load.runs
  const line =
    `${scenario}: ${failures.length} of ${load.runs} failed, ${number(perSecond)}/s, ` +
    `p50 ${number(millis.p50)}, p99 ${number(millis.p99)}, max ${number(millis.max)} ms, ` +
    `${number(each)} ms of CPU for a run until it is bound, ${costInWords(cost)}` +
    (failures.length === 0 ? "" : ` (${failures[0]})`)
  const figure = (name: string, value: number, unit: string, aim: number | undefined): Figure => ({
    name,
    value,
    unit,
    better: unit === "/s" ? "more" : "less",
    ...(aim !== undefined && { aim })
  })
  return {
    scenario,
    line,
    figures: [
      figure("failures", failures.length, "", 0),
      figure("rate", perSecond, "/s", aims?.perSecond),
      figure("p50", millis.p50, "ms", aims?.p50),
      figure("p99", millis.p99, "ms", aims?.p99),
      figure("CPU of a run, with the database", each, "ms", aims?.cpu),
      ...costFigures(cost)
    ]
  }
}
