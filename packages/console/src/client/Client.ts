import { type ControlPlaneCalls, type RunsCalls, RunsClient } from "@runplane/api"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { SERVICE_URL } from "./Base.ts"
import { sawAnswer } from "./Connection.ts"
import { Accept, layerHttp } from "./Http.ts"
import { CallFailed, problemOf } from "./Problem.ts"
import { settle } from "./Settle.ts"

export const runtime = ManagedRuntime.make(
  RunsClient.layer({ baseUrl: SERVICE_URL }).pipe(Layer.provide(layerHttp("authorization")))
)

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
