import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as Effect from "effect/Effect"
import { FetchHttpClient } from "effect/http"
import * as Layer from "effect/Layer"
import { AgentTokens } from "../../src/agents/AgentTokens.ts"
import { LauncherSettings } from "../../src/LauncherSettings.ts"
import { PeopleDirectory, PeopleSignIn } from "../../src/people/escalate/Persons.ts"
import { RemoteAgents } from "../../src/remote/RemoteAgents.ts"
import { settingsLayer } from "../fixtures/Settings.ts"

/** The seat of the tests. */
export const SEAT = "officer"

/** Names as credentials, which the runtime of the tests accepts. */
export const layerTokens = AgentTokens.layer.pipe(Layer.provide(settingsLayer()), Layer.provide(FetchHttpClient.layer))

/** Agents that speak A2A, on the loopback too. */
export const layerRemotes = RemoteAgents.layer.pipe(
  Layer.provide(LauncherSettings.layerFrom({ allowPrivateAgents: true })),
  Layer.provide([NodeFileSystem.layer, NodePath.layer])
)

/** A directory of all packs, and a sign-in with keys unless said otherwise. */
export const layerPersons = (
  people: Readonly<Record<string, ReadonlyArray<string>>> = {},
  signIn: PeopleSignIn["Service"] = { hasTokens: false, isLocal: false }
) =>
  Layer.mergeAll(
    Layer.succeed(PeopleDirectory, {
      groupsOf: (person) => Effect.succeed(new Map([["test", people[person] ?? []]])),
      peopleOf: () => Effect.succeed(Object.entries(people).map(([id, groups]) => ({ id, groups })))
    }),
    Layer.succeed(PeopleSignIn, signIn)
  )
