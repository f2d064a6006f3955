import { LauncherClient } from "@runplane/api"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { explainUnreached } from "../view/launch/Unreached.ts"
import { type CallWatch, settle } from "./Client.ts"
import { layerHttp } from "./Http.ts"
import { CallFailed, UNREACHABLE } from "./Problem.ts"

// The light shows the control plane: an answer of the launch service proves nothing about it.
const UNWATCHED: CallWatch = { begin: () => () => {}, saw: () => {} }

/** The longest wait for the request that needs no permission. Milliseconds. */
const PROBE_MS = 3_000

type Api = LauncherClient["Service"]

/** Whether the service answers at all; the page may not read the answer. */
const answersTo = (baseUrl: string): Promise<boolean> =>
  fetch(`${baseUrl.replace(/\/$/, "")}/healthz`, { mode: "no-cors", signal: AbortSignal.timeout(PROBE_MS) }).then(
    () => true,
    () => false
  )

/** The failure of a call, with what keeps the page from the launch service. */
const explained = async (error: unknown, baseUrl: string): Promise<unknown> => {
  if (!(error instanceof CallFailed) || error.problem.code !== UNREACHABLE) return error
  const page = window.location.origin
  const { isRefused, text } = explainUnreached({ page, launcher: baseUrl, answers: await answersTo(baseUrl) })
  return new CallFailed({ ...error.problem, messages: [text], ...(isRefused && { code: "REFUSED_BY_BROWSER" }) })
}

/** Calls of the launch service, which is another origin, through its typed client. */
export const launcherAt = (baseUrl: string) => {
  const services = ManagedRuntime.make(LauncherClient.layer({ baseUrl }).pipe(Layer.provide(layerHttp("x-api-key"))))
  return async <A, E>(make: (api: Api) => Effect.Effect<A, E>, signal?: AbortSignal): Promise<A> => {
    try {
      return await settle(services, Effect.flatMap(LauncherClient, make), signal, UNWATCHED)
    } catch (error) {
      throw await explained(error, baseUrl)
    }
  }
}
export type CallLauncher = ReturnType<typeof launcherAt>
