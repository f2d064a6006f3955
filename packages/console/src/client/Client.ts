import { type ControlPlaneCalls, type RunsCalls, RunsClient } from "@runplane/api"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { newId } from "../view/format/NewId.ts"
import { SERVICE_URL } from "./Base.ts"
import { beginCall, sawAnswer } from "./Connection.ts"
import { Accept, layerHttp, RequestId } from "./Http.ts"
import { CallFailed, problemOf, UNREACHABLE } from "./Problem.ts"
import { refuse } from "./Session.ts"

export const runtime = ManagedRuntime.make(
  RunsClient.layer({ baseUrl: SERVICE_URL }).pipe(Layer.provide(layerHttp("authorization")))
)

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

/** A call of the part of the contract in every first load: runs, events, streams and the caller. */
export const callRuns = <A, E>(make: (api: RunsCalls) => Effect.Effect<A, E>, signal?: AbortSignal): Promise<A> =>
  settle(
    runtime,
    Effect.flatMap(RunsClient, ({ api }) => make(api)),
    signal
  )

// The rest of the contract is a sixth of a first load.
const loadWhole = () => import("./WholeClient.ts")

/** Loads the rest of the contract before its first call. */
export const prepareCalls = (): void => {
  loadWhole().catch(() => {
    // The first call loads it again, and reports the failure.
  })
}

/** One call of the control plane through its typed client. */
export const call = async <A, E>(
  make: (api: ControlPlaneCalls) => Effect.Effect<A, E>,
  signal?: AbortSignal
): Promise<A> => {
  const whole = await loadWhole().catch((error: unknown) => {
    sawAnswer(false)
    throw new CallFailed(problemOf(error, ""))
  })
  return settle(
    whole.runtime,
    Effect.flatMap(whole.ControlPlaneClient, ({ api }) => make(api)),
    signal
  )
}

/** As `call`, for an answer with several content types: this one. */
export const callFor = <A, E>(
  accept: string,
  make: (api: ControlPlaneCalls) => Effect.Effect<A, E>,
  signal?: AbortSignal
): Promise<A> => call((api) => Effect.provideService(make(api), Accept, accept), signal)
