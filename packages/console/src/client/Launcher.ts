import { LauncherClient } from "@runplane/api"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { settle } from "./Client.ts"
import { layerHttp } from "./Http.ts"

// The light shows the control plane: an answer of the launch service proves nothing about it.
const ignored = () => {}

type Api = LauncherClient["Service"]

/** Calls of the launch service, which is another origin, through its typed client. */
export const launcherAt = (baseUrl: string) => {
  const services = ManagedRuntime.make(LauncherClient.layer({ baseUrl }).pipe(Layer.provide(layerHttp("x-api-key"))))
  return <A, E>(make: (api: Api) => Effect.Effect<A, E>, signal?: AbortSignal): Promise<A> =>
    settle(services, Effect.flatMap(LauncherClient, make), signal, ignored)
}
export type CallLauncher = ReturnType<typeof launcherAt>
