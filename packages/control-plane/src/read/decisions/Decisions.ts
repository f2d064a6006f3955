import {
  badRequest,
  type ControlPlaneError,
  controlPlaneError,
  type NotFound,
  type OtherPolicy,
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
  type WhatIf,
  type Why,
  whatIfInParts,
  whyInParts
} from "@runplane/domain"
import { RuntimeClient } from "@runplane/runtime"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type { SqlError } from "effect/sql/SqlError"
import { answerOfRuntimeError } from "../../edge/RuntimeRefusal.ts"
import { RunRepository } from "../../log/runs/RunRepository.ts"
import { DecisionReader } from "./DecisionReader.ts"
import { inParts } from "./InParts.ts"

/** Two runs, and where they part. */
export interface Parted {
  readonly leftRunId: RunId
  readonly rightRunId: RunId
  readonly divergence: Divergence | null
}

/** What runs' histories say about their decisions (docs/decisions.md). Nothing is written. */
export class Decisions extends Context.Service<
  Decisions,
  {
    readonly forecast: (
      reference: string,
      atSeq?: number
    ) => Effect.Effect<Forecast & { readonly runId: RunId }, NotFound | SqlError>
    readonly why: (reference: string) => Effect.Effect<Why & { readonly runId: RunId }, NotFound | SqlError>
    readonly whatIf: (
      reference: string,
      asked: typeof WhatIfRequest.Type
    ) => Effect.Effect<WhatIf, ControlPlaneError | SqlError>
    readonly divergence: (leftReference: string, rightReference: string) => Effect.Effect<Parted, NotFound | SqlError>
    /** A policy of the registry, or the one that is given, checked; a fault names the field. */
    readonly policyOf: (
      asked: Pick<typeof WhatIfRequest.Type, "policy" | "policyVersion">
    ) => Effect.Effect<PolicyText | undefined, ControlPlaneError>
  }
>()("runplane/control-plane/Decisions") {
  static readonly layer = Layer.effect(
    Decisions,
    Effect.gen(function* () {
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

      const forecastOf = Effect.fn("Decisions.forecast")(function* (reference: string, atSeq?: number) {
        const runId = yield* resolve(reference)
        const { by, run } = yield* reader.decision(runId, atSeq)
        yield* stillThere(runId, reference)
        // What was possible then is told by the time of then.
        const then = atSeq === undefined ? yield* Clock.currentTimeMillis : Date.parse(run.at?.ts ?? "")
        return { ...forecast(run, by, Number.isFinite(then) ? { nowUnixMs: then } : {}), runId }
      })
      const whyOf = Effect.fn("Decisions.why")(function* (reference: string) {
        const runId = yield* resolve(reference)
        const { by, run } = yield* reader.decision(runId)
        yield* stillThere(runId, reference)
        return { ...(yield* inParts(whyInParts(run, by))), runId }
      })
      const whatIfOf = Effect.fn("Decisions.whatIf")(function* (reference: string, asked: typeof WhatIfRequest.Type) {
        const runId = yield* resolve(reference)
        const policy = yield* policyOf(asked)
        const { by, run } = yield* reader.decision(runId)
        yield* stillThere(runId, reference)
        const { votes, without } = asked
        const changes: Changes = {
          ...(policy !== undefined && { policy }),
          ...(votes !== undefined && { votes }),
          ...(without !== undefined && { without })
        }
        return yield* Result.match(yield* inParts(whatIfInParts(run, by, changes)), {
          onFailure: ({ message }) => Effect.fail(badRequest(message)),
          onSuccess: Effect.succeed
        })
      })
      const divergence = Effect.fn("Decisions.divergence")(function* (left: string, right: string) {
        const leftRunId = yield* resolve(left)
        const rightRunId = yield* resolve(right)
        const leftCourse = yield* reader.course(leftRunId)
        const rightCourse = yield* reader.course(rightRunId)
        yield* stillThere(leftRunId, left)
        yield* stillThere(rightRunId, right)
        return { leftRunId, rightRunId, divergence: divergenceOf(leftCourse, rightCourse) }
      })
      return Decisions.of({
        forecast: (reference, atSeq) => reader.inTurn(forecastOf(reference, atSeq)),
        why: (reference) => reader.inTurn(whyOf(reference)),
        whatIf: (reference, asked) => reader.inTurn(whatIfOf(reference, asked)),
        divergence: (left, right) => reader.inTurn(divergence(left, right)),
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
