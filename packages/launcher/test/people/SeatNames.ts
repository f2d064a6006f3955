import * as Effect from "effect/Effect"
import { FetchHttpClient } from "effect/http"
import * as Layer from "effect/Layer"
import { AgentTokens } from "../../src/agents/AgentTokens.ts"
import { PeopleDirectory, PeopleSignIn } from "../../src/people/escalate/Persons.ts"
import { settingsLayer } from "../fixtures/Settings.ts"

/** The seat of the tests. */
export const SEAT = "officer"

/** Names as credentials, which the runtime of the tests accepts. */
export const layerTokens = AgentTokens.layer.pipe(Layer.provide(settingsLayer()), Layer.provide(FetchHttpClient.layer))

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
