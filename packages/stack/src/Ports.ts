import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { type PortUnavailable, probePort } from "@runplane/postgres"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import type { StackSettings } from "./StackSettings.ts"

/** Another Runplane has the ports. */
export class AlreadyRunning extends Data.TaggedError("AlreadyRunning")<{ readonly url: string }> {
  override get message() {
    return (
      `Runplane already runs at ${this.url}; stop it first, or give this one a LAUNCHER_PORT, CONTROL_PLANE_PORT, ` +
      "SANDBOX_PORT and RUNPLANE_DATA_DIR of its own"
    )
  }
}

export const LOOPBACK = "127.0.0.1"

/** As a client on this machine reaches a port of ours. */
export const urlOf = ({ host }: StackSettings, port: number) => `http://${host === "0.0.0.0" ? LOOPBACK : host}:${port}`

/** Before anything is started, so that a second stack ends at once and with one clear line. */
export const checkPorts = (settings: StackSettings): Effect.Effect<void, PortUnavailable | AlreadyRunning> =>
  Effect.forEach(portsOf(settings), ({ host, port, purpose, setting }) => probePort(host, port, { purpose, setting }), {
    discard: true
  }).pipe(
    Effect.catchTag("PortUnavailable", (taken) =>
      Effect.gen(function* () {
        for (const port of [settings.controlPlanePort, settings.launcherPort]) {
          const url = urlOf(settings, port)
          if (yield* isRunplane(url)) return yield* new AlreadyRunning({ url })
        }
        return yield* taken
      })
    )
  )

const portsOf = (settings: StackSettings) => {
  const { authPort, controlPlanePort, devAuth, host, launcherPort, runtimeAddress, runtimePort } = settings
  return [
    { host, port: launcherPort, purpose: "launch service", setting: "LAUNCHER_PORT" },
    { host, port: controlPlanePort, purpose: "control plane", setting: "CONTROL_PLANE_PORT" },
    ...(devAuth && authPort !== undefined
      ? [{ host: LOOPBACK, port: authPort, purpose: "auth service", setting: "AUTH_PORT" }]
      : []),
    ...(runtimeAddress === undefined
      ? [{ host: LOOPBACK, port: runtimePort, purpose: "sandbox runtime", setting: "SANDBOX_PORT" }]
      : [])
  ]
}

/** The process that has the port may never answer. */
const ANSWER_TIMEOUT = Duration.seconds(2)

/** Both services show their name in the metrics, which need no key. */
const isRunplane = (url: string) =>
  HttpClient.get(`${url}/metrics`).pipe(
    Effect.flatMap(({ text }) => text),
    Effect.map((text) => text.includes("runplane_build_info")),
    Effect.timeout(ANSWER_TIMEOUT),
    Effect.orElseSucceed(() => false),
    Effect.provide(NodeHttpClient.layerNodeHttp)
  )
