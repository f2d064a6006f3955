import { badRequest, type NotFound, type RuntimeFailure, runNotFound, type WhatIfRequest } from "@runplane/api"
import {
  type Changes,
  cardInSlices,
  type DecisionCard,
  type Divergence,
  divergenceInSlices,
  type Forecast,
  forecastInSlices,
  type PolicyText,
  type ReasonedCard,
  type RecordSubject,
  type RunId,
  recordSubject,
  scenarioOfRecord,
  type WhatIf,
  type Why,
  whatIfInSlices,
  whyInSlices
} from "@runplane/domain"
import { inSlices, type TurnRefused } from "@runplane/server"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type { SqlError } from "effect/sql/SqlError"
import { RunStateReader } from "../../event-log/projection/RunStateReader.ts"
import { RunRepository } from "../../event-log/runs/RunRepository.ts"
import { type CachedAnswer, makeAnswerCache } from "./AnswerCache.ts"
import { DecisionReader, type ReadDecision } from "./DecisionReader.ts"
import { makePolicyOf } from "./RequestedPolicy.ts"

/** Two runs, and their divergence. */
export interface Parted {
  readonly leftRunId: RunId
  readonly rightRunId: RunId
  readonly divergence: Divergence | null
}

/** A decision with its reasons, and what its record says of the run. */
export interface DecisionRecord extends ReasonedCard {
  readonly subject: Omit<RecordSubject, "printed">
}

/** Answers about decisions from the logs of runs, without a write (docs/reference/decisions.md). */
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
    /** The picture of the decision, as of an event or of the whole log. */
    readonly card: (
      reference: string,
      atSeq?: number
    ) => Effect.Effect<DecisionCard & { readonly runId: RunId }, NotFound | SqlError | TurnRefused>
    /** The printed record: card, reasons and subject. */
    readonly record: (reference: string) => Effect.Effect<DecisionRecord, NotFound | SqlError | TurnRefused>
    readonly whatIf: (
      reference: string,
      request: typeof WhatIfRequest.Type
    ) => Effect.Effect<WhatIf, RuntimeFailure | SqlError | TurnRefused>
    readonly divergence: (
      leftReference: string,
      rightReference: string
    ) => Effect.Effect<Parted, NotFound | SqlError | TurnRefused>
    /** A policy of the registry, or the given one after validation; an error names the field. */
    readonly policyOf: (
      request: Pick<typeof WhatIfRequest.Type, "policy" | "policyVersion">
    ) => Effect.Effect<PolicyText | undefined, RuntimeFailure>
  }
>()("runplane/control-plane/Decisions") {
  static readonly layer = Layer.effect(
    Decisions,
    Effect.gen(function* () {
      const reader = yield* DecisionReader
      const runs = yield* RunRepository
      const states = yield* RunStateReader

      const resolve = Effect.fnUntraced(function* (reference: string) {
        return (yield* runs.resolve(reference)) ?? (yield* runNotFound(reference))
      })

      /** Fails for a run that was deleted while it was read, because the answer may be incomplete. */
      const requireRun = Effect.fnUntraced(function* (runId: RunId, reference: string) {
        if ((yield* runs.status(runId)) === undefined) return yield* runNotFound(reference)
      })

      const policyOf = yield* makePolicyOf

      const forecasts = makeAnswerCache<Forecast & { readonly runId: RunId }>(states)
      const whys = makeAnswerCache<Why & { readonly runId: RunId }>(states)
      const records = makeAnswerCache<DecisionRecord & { readonly runId: RunId }>(states)
      const whatIfs = makeAnswerCache<WhatIf>(states)
      const divergences = makeAnswerCache<Parted>(states)

      /** The cached answer about a run, or a new one, which is cached when the log contains all that it depends on. */
      const answered = Effect.fnUntraced(function* <A, E>(
        reference: string,
        {
          cached,
          runId,
          upToSeq
        }: { readonly cached: CachedAnswer<A>; readonly runId: RunId; readonly upToSeq?: number },
        make: (read: ReadDecision) => Effect.Effect<A, E>,
        isFinal: (run: ReadDecision["run"]) => boolean = () => true
      ) {
        const known = cached.get()
        if (known !== undefined) return known
        return yield* reader.decided(
          { runId, upToSeq, known: cached.get },
          Effect.fnUntraced(function* (read: ReadDecision) {
            yield* requireRun(runId, reference)
            const answer = yield* make(read)
            if (read.isOnRecord && isFinal(read.run)) cached.put(answer)
            return answer
          })
        )
      })

      const forecastOf = Effect.fn("Decisions.forecast")(function* (reference: string, atSeq?: number) {
        const runId = yield* resolve(reference)
        const cached = yield* forecasts([runId], atSeq)
        const at = { cached, runId, ...(atSeq !== undefined && { upToSeq: atSeq }) }
        const make = Effect.fnUntraced(function* ({ by, run }: ReadDecision) {
          return { ...(yield* inSlices(forecastInSlices(run, by, yield* timeOf(run, atSeq)))), runId }
        })
        return yield* answered(reference, at, make, isTimeless(atSeq))
      })
      const whyOf = Effect.fn("Decisions.why")(function* (reference: string) {
        const runId = yield* resolve(reference)
        const cached = yield* whys([runId])
        return yield* answered(reference, { cached, runId }, ({ by, run }) =>
          Effect.map(inSlices(whyInSlices(run, by)), (why) => ({ ...why, runId }))
        )
      })
      const recordOf = Effect.fnUntraced(function* (reference: string, atSeq?: number) {
        const runId = yield* resolve(reference)
        const cached = yield* records([runId], atSeq)
        const at = { cached, runId, ...(atSeq !== undefined && { upToSeq: atSeq }) }
        const make = Effect.fnUntraced(function* ({ by, run }: ReadDecision) {
          const { card, why } = yield* inSlices(cardInSlices(run, by, yield* timeOf(run, atSeq)))
          return { card, why, subject: recordSubject(run, why), runId }
        })
        return yield* answered(reference, at, make, isTimeless(atSeq))
      })
      const card = Effect.fn("Decisions.card")((reference: string, atSeq?: number) =>
        Effect.map(recordOf(reference, atSeq), ({ card, runId }) => ({ ...card, runId }))
      )
      const record = Effect.fn("Decisions.record")(function* (reference: string) {
        const { card, runId, subject, why } = yield* recordOf(reference)
        const found = yield* runs.find(runId)
        return { card, why, subject: { ...subject, scenario: found && scenarioOfRecord(found.record) } }
      })
      const whatIfOf = Effect.fn("Decisions.whatIf")(function* (reference: string, request: typeof WhatIfRequest.Type) {
        const runId = yield* resolve(reference)
        const policy = yield* policyOf(request)
        const { votes, without } = request
        const changes: Changes = {
          ...(policy !== undefined && { policy }),
          ...(votes !== undefined && { votes }),
          ...(without !== undefined && { without })
        }
        const cached = yield* whatIfs([runId], changes)
        const make = Effect.fnUntraced(function* ({ by, run }: ReadDecision) {
          const made = yield* inSlices(whatIfInSlices(run, by, changes))
          return Result.isFailure(made) ? yield* badRequest(made.failure.message) : made.success
        })
        return yield* answered(reference, { cached, runId }, make)
      })
      const divergence = Effect.fn("Decisions.divergence")(function* (left: string, right: string) {
        const leftRunId = yield* resolve(left)
        const rightRunId = yield* resolve(right)
        const cached = yield* divergences([leftRunId, rightRunId])
        const known = cached.get()
        if (known !== undefined) return known
        const read = Effect.gen(function* () {
          const leftCourse = yield* reader.course(leftRunId)
          const rightCourse = yield* reader.course(rightRunId)
          yield* requireRun(leftRunId, left)
          yield* requireRun(rightRunId, right)
          const parted = {
            leftRunId,
            rightRunId,
            divergence: yield* inSlices(divergenceInSlices(leftCourse, rightCourse))
          }
          cached.put(parted)
          return parted
        })
        return yield* reader.turns.run(
          Effect.suspend(() => {
            const answer = cached.get()
            return answer === undefined ? read : Effect.succeed(answer)
          })
        )
      })
      return Decisions.of({
        forecast: forecastOf,
        why: whyOf,
        card,
        record,
        whatIf: whatIfOf,
        divergence,
        policyOf
      })
    })
  )
}

/** The time of a forecast: now, or of a past event that of the event. */
const timeOf = Effect.fnUntraced(function* ({ at }: ReadDecision["run"], atSeq: number | undefined) {
  const time = atSeq === undefined ? yield* Clock.currentTimeMillis : Date.parse(at?.ts ?? "")
  return Number.isFinite(time) ? { nowUnixMs: time } : {}
})

/** An open session has a deadline, so its forecast depends on the time of the request. */
const isTimeless =
  (atSeq: number | undefined) =>
  ({ state }: ReadDecision["run"]): boolean =>
    atSeq !== undefined || state !== "OPEN"
