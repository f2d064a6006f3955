import { Authorization, anonymousActor, CurrentActor, unauthenticated } from "@runplane/api"
import * as Digest from "effect/crypto/Digest"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Layer from "effect/Layer"
import { keysFault } from "../settings/DeploymentRules.ts"
import { readSettings, SettingsRefused } from "../settings/ReadSettings.ts"
import { AuditSettings, ServiceSettings } from "../settings/ServiceSettings.ts"
import { actorsOf, indexOfKey } from "./ApiKeys.ts"
import { RequestFacts } from "./RequestFacts.ts"

const settings = {
  keys: ServiceSettings.AUTH_API_KEYS,
  names: AuditSettings.AUTH_API_KEY_NAMES,
  environment: ServiceSettings.NODE_ENV
}

const BEARER_PREFIX = /^Bearer(?: +|$)/

/**
 * The control plane's guard: `Authorization: Bearer <key>` or the bare key. Without configured keys every request
 * passes as `anonymous`, in development; elsewhere the service does not start.
 */
export const layerAuthorization = Layer.effect(
  Authorization,
  Effect.gen(function* () {
    const { environment, keys, names } = yield* readSettings(settings)
    const fault = keysFault(keys, environment)
    if (fault !== undefined) return yield* new SettingsRefused({ faults: [fault] })
    const actors = yield* Effect.orDie(actorsOf(keys, names))

    const actorOf = (header: string | undefined) => {
      if (keys.length === 0) return Effect.succeed(anonymousActor)
      if (header === undefined) return Effect.fail(unauthenticated("Missing Authorization header"))
      const token = header.replace(BEARER_PREFIX, "").trim()
      if (token === "") return Effect.fail(unauthenticated("Empty authorization token"))
      const actor = actors[indexOfKey(keys, token)]
      return actor === undefined ? Effect.fail(unauthenticated("Invalid authorization token")) : Effect.succeed(actor)
    }

    return Authorization.of({
      // The header is read here because the scheme's own reader knows no bare keys and ignores the prefix's case.
      bearer: (httpEffect) =>
        Effect.gen(function* () {
          const request = yield* HttpServerRequest.HttpServerRequest
          const actor = yield* actorOf(request.headers["authorization"])
          if (actor.actorType === "api-key") (yield* RequestFacts).keyName = actor.actorId
          return yield* Effect.provideService(httpEffect, CurrentActor, actor)
        })
    })
  })
).pipe(Layer.provide(Digest.layerWebCrypto))
