import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as ManagedRuntime from "effect/ManagedRuntime"
import { newId } from "../view/format/NewId.ts"
import { beginCall, sawAnswer } from "./Connection.ts"
import { RequestId } from "./Http.ts"
import { CallFailed, problemOf, UNREACHABLE } from "./Problem.ts"
import { refuse } from "./Session.ts"

/** Why a call or a stream failed. A refused key leads to the sign-in page, whatever the call. */
export const failureOf = (cause: Cause.Cause<unknown>, requestId = ""): CallFailed => {
  const problem = problemOf(Cause.squash(cause), requestId)
  if (problem.status === 401) refuse(problem.messages.join("; "))
  return new CallFailed(problem)
}

/** What of a call the connection light shows. */
export interface CallWatch {
  readonly begin: () => () => void
  readonly saw: (answered: boolean) => void
}

const OF_CONTROL_PLANE: CallWatch = { begin: beginCall, saw: sawAnswer }

/**
 * Runs a call under an id of its own; whatever goes wrong is a `CallFailed`. A cancelled call rejects like any other of
 * `fetch`. `watch` receives when it begins and whether the service answered.
 */
export const settle = async <A, R>(
  services: ManagedRuntime.ManagedRuntime<R, never>,
  effect: Effect.Effect<A, unknown, R>,
  signal: AbortSignal | undefined,
  watch: CallWatch = OF_CONTROL_PLANE
): Promise<A> => {
  const id = newId()
  const ended = watch.begin()
  const exit = await services.runPromiseExit(
    Effect.provideService(effect, RequestId, id),
    signal === undefined ? {} : { signal }
  )
  ended()
  if (Exit.isSuccess(exit)) {
    watch.saw(true)
    return exit.value
  }
  if (Cause.hasInterruptsOnly(exit.cause)) throw new DOMException("the call was cancelled", "AbortError")
  const failure = failureOf(exit.cause, id)
  watch.saw(failure.problem.code !== UNREACHABLE)
  throw failure
}
