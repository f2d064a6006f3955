import { LauncherClient } from "@runplane/api"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { unreachedText } from "../view/launch/Unreached.ts"
import { layerHttp } from "./Http.ts"
import { CallFailed, UNREACHABLE } from "./Problem.ts"
import { type CallWatch, settle } from "./Settle.ts"

// The light shows the control plane: an answer of the launch service proves nothing about it.
const UNWATCHED: CallWatch = { begin: () => () => {}, saw: () => {} }

type Api = LauncherClient["Service"]

/** The failure of a call, with what may keep the page from the launch service. */
const explained = (error: unknown, baseUrl: string): unknown =>
  error instanceof CallFailed && error.problem.code === UNREACHABLE
    ? new CallFailed({ ...error.problem, messages: [unreachedText(window.location.origin, baseUrl)] })
    : error

/** Calls of the launch service, which is another origin, through its typed client. */
export const launcherAt = (baseUrl: string) => {
  const services = ManagedRuntime.make(LauncherClient.layer({ baseUrl }).pipe(Layer.provide(layerHttp("x-api-key"))))
  return async <A, E>(make: (api: Api) => Effect.Effect<A, E>, signal?: AbortSignal): Promise<A> => {
    try {
      return await settle(services, Effect.flatMap(LauncherClient, make), signal, UNWATCHED)
    } catch (error) {
      throw explained(error, baseUrl)
    }
  }
}
export type CallLauncher = ReturnType<typeof launcherAt>
