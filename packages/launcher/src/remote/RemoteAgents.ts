import type { RemoteAgent } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"
import { LauncherSettings } from "../LauncherSettings.ts"
import { makeRemoteCalls, type RemoteCalls } from "./RemoteCalls.ts"
import { type Credential, makeCards } from "./RemoteCards.ts"
import { type RemoteFailure, RemoteHttp } from "./RemoteHttp.ts"
import { readRemoteManifest } from "./RemoteManifest.ts"

/** The environment with the credentials of agents. */
export const RemoteEnvironment = Context.Reference<Readonly<Record<string, string | undefined>>>(
  "runplane/launcher/RemoteEnvironment",
  { defaultValue: () => process.env }
)

/** The agents that speak A2A: their cards, and calls of them. */
export class RemoteAgents extends Context.Service<
  RemoteAgents,
  {
    /** The agent of a manifest as its card describes it now; the failure has the reason in words. */
    readonly pin: (agentRef: string) => Effect.Effect<RemoteAgent, string>
    /** The hash of the card as it is served now. */
    readonly hashNow: (agent: RemoteAgent) => Effect.Effect<string, RemoteFailure>
    readonly calls: RemoteCalls
  }
>()("runplane/launcher/RemoteAgents") {
  static readonly layer = Layer.effect(
    RemoteAgents,
    Effect.suspend(() => make)
  ).pipe(Layer.provide(RemoteHttp.layer))
}

const make = Effect.gen(function* () {
  const settings = yield* LauncherSettings
  const environment = yield* RemoteEnvironment
  const files = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
  // A pack names the variable: only those that its agents may see are sent anywhere.
  const allowed: ReadonlySet<string> = new Set(settings.hostEnvAllow)
  const credential: Credential = (name) => (allowed.has(name) ? environment[name] : undefined)
  const cards = yield* makeCards(credential)

  const pin = Effect.fn("RemoteAgents.pin")(function* (agentRef: string) {
    const manifest = yield* Effect.mapError(
      Effect.provideContext(readRemoteManifest(settings.agentsDir, agentRef, settings), files),
      (problems) => problems.join("; ")
    )
    const { auth, entrypoint } = manifest
    if (auth !== undefined && (credential(auth) ?? "") === "") {
      return yield* Effect.fail(`manifest.auth: the variable ${auth} is not set`)
    }
    return yield* Effect.mapError(
      cards.pin({ agentRef, auth, entrypoint }),
      ({ reason }) => `manifest.entrypoint: the agent card ${shown(entrypoint)} cannot be used: ${reason}`
    )
  })

  return RemoteAgents.of({ pin, hashNow: cards.hashNow, calls: yield* makeRemoteCalls(credential) })
})

/** An address without its query, which could be a secret. */
const shown = (entrypoint: string): string => {
  const { origin, pathname } = new URL(entrypoint)
  return `${origin}${pathname}`
}
