import type { SuspensionAct } from "@runplane/domain"
import { type ParticipantCalls, ParticipantClient } from "@runplane/runtime"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { AgentTokens } from "../../agents/AgentTokens.ts"
import { ItemRows } from "../ItemRows.ts"
import type { SeatSession } from "../SeatSession.ts"
import { SeatWork } from "../SeatWork.ts"
import { SuspensionRows } from "./SuspensionRows.ts"

/** Failures of a call after which the runtime has certainly not done it. */
const REFUSALS: ReadonlySet<string> = new Set([
  "PERMISSION_DENIED",
  "UNAUTHENTICATED",
  "NOT_FOUND",
  "INVALID_ARGUMENT",
  "UNIMPLEMENTED",
  "RESOURCE_EXHAUSTED"
])

/** A session as the runtime has it. */
export type Snapshot = Effect.Success<ReturnType<ParticipantCalls["getSession"]>>

export const PAST: Readonly<Record<SuspensionAct["kind"], string>> = { suspend: "suspended", resume: "resumed" }

/** What the runtime records as the reason. */
const REASONS: Readonly<Record<SuspensionAct["kind"], string>> = {
  suspend: "only people are waited for",
  resume: "an answer of a person is delivered"
}

/** The calls that suspend and resume sessions, with the token of the initiator of each. */
export class SuspensionCalls extends Context.Service<SuspensionCalls, Effect.Success<typeof make>>()(
  "runplane/launcher/SuspensionCalls"
) {
  static readonly layer = Layer.effect(
    SuspensionCalls,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const rows = yield* SuspensionRows
  const items = yield* ItemRows
  const work = yield* SeatWork
  const tokens = yield* AgentTokens
  const client = yield* ParticipantClient

  /** Why the runtime has not done it; undefined once it has; no result while that is not known. */
  const request = Effect.fnUntraced(function* (
    { row }: Pick<SeatSession, "row">,
    { initiator }: Pick<Snapshot, "initiator">,
    { kind, n }: Pick<SuspensionAct, "kind" | "n">
  ) {
    const { modeName, sessionId } = row
    const token = yield* Effect.result(
      tokens.tokenFor({ participantId: initiator, modeName, isInitiator: false, isControl: true, minLifeMs: 0 })
    )
    if (Result.isFailure(token)) return Result.succeed(`no token for ${initiator}: ${token.failure.message}`)
    // A process that found the row without a call has settled it.
    if (!(yield* rows.called(sessionId, n))) return Result.fail("another process has settled its row")
    const calls = client.as(Redacted.make(token.success))
    const control = { sessionId, reason: REASONS[kind] }
    const answer = yield* Effect.result(
      kind === "suspend" ? calls.suspendSession(control) : calls.resumeSession(control)
    )
    if (Result.isFailure(answer)) {
      const { message, reason } = answer.failure
      return REFUSALS.has(reason) ? Result.succeed(`${reason}: ${message}`) : Result.fail(message)
    }
    const { error, ok } = answer.success
    return Result.succeed(ok ? undefined : `${error?.code ?? ""}: ${error?.message ?? "the runtime gave no reason"}`)
  })

  return {
    /** Makes the call of a row, and stores its result if it is known. */
    carryOut: Effect.fnUntraced(function* (
      session: Pick<SeatSession, "row">,
      now: Snapshot,
      act: Pick<SuspensionAct, "kind" | "n">
    ) {
      const { sessionId } = session.row
      const { kind, n } = act
      const result = yield* request(session, now, act)
      if (Result.isFailure(result)) {
        yield* Effect.logWarning(`session ${sessionId}: it is not known whether it is ${PAST[kind]}: ${result.failure}`)
        return
      }
      const refusal = result.success
      const isDone = refusal === undefined
      const said = isDone ? { sessionId } : { sessionId, reason: refusal }
      yield* work.inTransaction(
        Effect.andThen(
          rows.settle(sessionId, n, isDone ? "done" : "refused", refusal),
          items.audit("service", isDone ? `session.${PAST[kind]}` : `session.${kind}-refused`, undefined, said)
        )
      )
    })
  }
})
