import {
  badRequest,
  controlPlaneError,
  type NotFound,
  type OtherPolicy,
  type RuntimeFailure,
  runNotFound,
  type WhatIfRequest
} from "@runplane/api"
import {
  type Changes,
  type Divergence,
  divergenceOf,
  type Forecast,
  forecast,
  type PolicyText,
  policyRuleFaults,
  type RunId,
  type Sliced,
  type WhatIf,
  type Why,
  whatIfInSlices,
  whyInSlices
} from "@runplane/domain"
import { RuntimeClient } from "@runplane/runtime"
import type { TurnRefused } from "@runplane/server"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type { SqlError } from "effect/sql/SqlError"
import { EventRepository } from "../../event-log/EventRepository.ts"
import { RunRepository } from "../../event-log/runs/RunRepository.ts"
import { answerOfRuntimeError } from "../../platform/http/RuntimeRefusal.ts"
import { DecisionReader } from "./DecisionReader.ts"
import { makeKeptAnswers } from "./KeptAnswers.ts"

/** After this time others have their turn. Milliseconds. */
const TURN_MS = 10

/**
 * Makes what comes in parts, and lets the process do its other work in between (docs/reference/decisions.md#limits).
 */
const inSlices = Effect.fnUntraced(function* <A>(parts: Sliced<A>) {
  const clock = yield* Clock.Clock
  while (true) {
    const started = clock.currentTimeMillisUnsafe()
    do {
      const { done, value } = parts.next()
      if (done) return value
    } while (clock.currentTimeMillisUnsafe() - started < TURN_MS)
    yield* Effect.yieldNow
  }
})

/** Two runs, and where they part. */
export interface Parted {
  readonly leftRunId: RunId
  readonly rightRunId: RunId
  readonly divergence: Divergence | null
}

/** What runs' histories say about their decisions (docs/reference/decisions.md). Nothing is written. */
export class Decisions extends Context.Service<
  Decisions,
  {
    readonly forecast: (
      reference: string,
      atSeq?: number
    ) => Effect.Effect<Forecast & { readonly runId: RunId }, NotFound | SqlError | TurnRefused>
    readonly why: (
      reference: string
    ) => Effect.Effect<Why & { readonly runId: RunId }, NotFound | SqlError | TurnRefused>
    readonly whatIf: (
      reference: string,
      asked: typeof WhatIfRequest.Type
    ) => Effect.Effect<WhatIf, RuntimeFailure | SqlError | TurnRefused>
    readonly divergence: (
      leftReference: string,
      rightReference: string
    ) => Effect.Effect<Parted, NotFound | SqlError | TurnRefused>
    /** A policy of the registry, or the one that is given, checked; a fault names the field. */
    readonly policyOf: (
      asked: Pick<typeof WhatIfRequest.Type, "policy" | "policyVersion">
    ) => Effect.Effect<PolicyText | undefined, RuntimeFailure>
  }
>()("runplane/control-plane/Decisions") {
  static readonly layer = Layer.effect(
    Decisions,
    Effect.gen(function* () {
      const events = yield* EventRepository
      const reader = yield* DecisionReader
      const runs = yield* RunRepository
      const runtime = yield* RuntimeClient

      const resolve = Effect.fnUntraced(function* (reference: string) {
        return (yield* runs.resolve(reference)) ?? (yield* runNotFound(reference))
      })

      /** Of a run that is deleted while it is read, no part is taken for the whole. */
      const stillThere = Effect.fnUntraced(function* (runId: RunId, reference: string) {
        if ((yield* runs.status(runId)) === undefined) return yield* runNotFound(reference)
      })

      const policyOf = Effect.fnUntraced(function* (
        asked: Pick<typeof WhatIfRequest.Type, "policy" | "policyVersion">
      ) {
        const { policy, policyVersion } = asked
        if (policy !== undefined && policyVersion !== undefined) {
          return yield* badRequest("policy and policyVersion exclude each other")
        }
        if (policy !== undefined) return yield* checked(policy)
        if (policyVersion === undefined) return undefined
        return yield* Effect.mapError(runtime.getPolicy(policyVersion), answerOfRuntimeError)
      })

      const forecasts = makeKeptAnswers<Forecast & { readonly runId: RunId }>(events, runs)
      const whys = makeKeptAnswers<Why & { readonly runId: RunId }>(events, runs)
      const whatIfs = makeKeptAnswers<WhatIf>(events, runs)
      const divergences = makeKeptAnswers<Parted>(events, runs)

      const forecastOf = Effect.fn("Decisions.forecast")(function* (reference: string, atSeq?: number) {
        const runId = yield* resolve(reference)
        const kept = yield* forecasts([runId], atSeq)
        const known = kept.get()
        if (known !== undefined) return known
        return yield* reader.decided(
          { runId, upToSeq: atSeq, known: kept.get },
          Effect.fnUntraced(function* ({ by, isOnRecord, run }) {
            yield* stillThere(runId, reference)
            // What was possible then is told by the time of then.
            const then = atSeq === undefined ? yield* Clock.currentTimeMillis : Date.parse(run.at?.ts ?? "")
            const answer = { ...forecast(run, by, Number.isFinite(then) ? { nowUnixMs: then } : {}), runId }
            // An open session has a deadline, so its forecast depends on the time of the request.
            if (isOnRecord && (atSeq !== undefined || run.state !== "OPEN")) kept.keep(answer)
            return answer
          })
        )
      })
      const whyOf = Effect.fn("Decisions.why")(function* (reference: string) {
        const runId = yield* resolve(reference)
        const kept = yield* whys([runId])
        const known = kept.get()
        if (known !== undefined) return known
        return yield* reader.decided(
          { runId, known: kept.get },
          Effect.fnUntraced(function* ({ by, isOnRecord, run }) {
            yield* stillThere(runId, reference)
            const answer = { ...(yield* inSlices(whyInSlices(run, by))), runId }
            if (isOnRecord) kept.keep(answer)
            return answer
          })
        )
      })
      const whatIfOf = Effect.fn("Decisions.whatIf")(function* (reference: string, asked: typeof WhatIfRequest.Type) {
        const runId = yield* resolve(reference)
        const policy = yield* policyOf(asked)
        const { votes, without } = asked
        const changes: Changes = {
          ...(policy !== undefined && { policy }),
          ...(votes !== undefined && { votes }),
          ...(without !== undefined && { without })
        }
        const kept = yield* whatIfs([runId], changes)
        const known = kept.get()
        if (known !== undefined) return known
        return yield* reader.decided(
          { runId, known: kept.get },
          Effect.fnUntraced(function* ({ by, isOnRecord, run }) {
            yield* stillThere(runId, reference)
            const made = yield* inSlices(whatIfInSlices(run, by, changes))
            if (Result.isFailure(made)) return yield* badRequest(made.failure.message)
            if (isOnRecord) kept.keep(made.success)
            return made.success
          })
        )
      })
      const divergence = Effect.fn("Decisions.divergence")(function* (left: string, right: string) {
        const leftRunId = yield* resolve(left)
        const rightRunId = yield* resolve(right)
        const kept = yield* divergences([leftRunId, rightRunId])
        const known = kept.get()
        if (known !== undefined) return known
        const read = Effect.gen(function* () {
          const leftCourse = yield* reader.course(leftRunId)
          const rightCourse = yield* reader.course(rightRunId)
          yield* stillThere(leftRunId, left)
          yield* stillThere(rightRunId, right)
          const parted = { leftRunId, rightRunId, divergence: divergenceOf(leftCourse, rightCourse) }
          kept.keep(parted)
          return parted
        })
        return yield* reader.turns.run(
          Effect.suspend(() => {
            const answer = kept.get()
            return answer === undefined ? read : Effect.succeed(answer)
          })
        )
      })
      return Decisions.of({
        forecast: forecastOf,
        why: whyOf,
        whatIf: whatIfOf,
        divergence,
        policyOf
      })
    })
  )
}

/** Rules that nobody has registered are checked as a registration is. */
const checked = ({ mode, rules, schemaVersion }: typeof OtherPolicy.Type) => {
  const faults = policyRuleFaults(mode, rules).map((fault) => `policy.rules${fault}`)
  return faults.length > 0
    ? Effect.fail(controlPlaneError("INVALID_POLICY_DEFINITION", faults.join("; "), { faults }))
    : Effect.succeed({ policyId: "the given policy", mode, schemaVersion, rules: JSON.stringify(rules) })
}
