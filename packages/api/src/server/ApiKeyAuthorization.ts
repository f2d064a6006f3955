import * as Config from "effect/Config"
import * as Digest from "effect/crypto/Digest"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Layer from "effect/Layer"
import { unauthenticated } from "../errors/Failures.ts"
import { Authorization, anonymousActor, CurrentActor } from "../middleware/Authorization.ts"
import { actorsOf, apiKeyNames, apiKeys, indexOfKey } from "./ApiKeys.ts"
import * as Settings from "./Settings.ts"

/** Environments that may run without keys. */
const OPEN_ENVIRONMENTS = ["development", "test"]

/** Outside development a service without keys does not start (http-details section 14). */
const keysOrRefusal = Config.all({ keys: apiKeys, environment: Settings.text("NODE_ENV", "development") }).pipe(
  Config.flatMap(({ keys, environment }) =>
    keys.length > 0 || OPEN_ENVIRONMENTS.includes(environment)
      ? Config.succeed(keys)
      : Settings.refused("AUTH_API_KEYS", `must hold at least one key when NODE_ENV is ${environment}`)
  )
)

const BEARER_PREFIX = /^Bearer(?: +|$)/

/**
 * The control plane's guard: `Authorization: Bearer <key>` or the bare key (http-details section 3.4). Without
 * configured keys every request passes as `anonymous`.
 */
export const layerAuthorization = Layer.effect(
  Authorization,
  Effect.gen(function* () {
    const keys = yield* keysOrRefusal
    const actors = yield* Effect.orDie(actorsOf(keys, yield* apiKeyNames))

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
          return yield* Effect.provideService(httpEffect, CurrentActor, actor)
        })
    })
  })
).pipe(Layer.provide(Digest.layerWebCrypto))
