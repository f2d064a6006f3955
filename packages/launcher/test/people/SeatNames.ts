import { FetchHttpClient } from "effect/http"
import * as Layer from "effect/Layer"
import { AgentTokens } from "../../src/agents/AgentTokens.ts"
import { settingsLayer } from "../fixtures/Settings.ts"

/** The seat of the tests. */
export const SEAT = "officer"

/** Names as credentials, which the runtime of the tests accepts. */
export const layerTokens = AgentTokens.layer.pipe(Layer.provide(settingsLayer()), Layer.provide(FetchHttpClient.layer))
