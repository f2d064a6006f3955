import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Layer from "effect/Layer"
import { ApiKeyRejected, INVALID_API_KEY_TEXT } from "../errors/LauncherErrors.ts"
import { LauncherApiKey } from "../middleware/LauncherApiKey.ts"
import { apiKeys, indexOfKey } from "./ApiKeys.ts"

/** The launch service's guard over `x-api-key` (launch-details section 10.3); open when no key is configured. */
export const layerLauncherApiKey = Layer.effect(
  LauncherApiKey,
  Effect.gen(function* () {
    const keys = yield* apiKeys
    return LauncherApiKey.of({
      apiKey: (httpEffect) =>
        Effect.gen(function* () {
          const request = yield* HttpServerRequest.HttpServerRequest
          const key = request.headers["x-api-key"] ?? ""
          if (keys.length > 0 && indexOfKey(keys, key) === -1) {
            return yield* new ApiKeyRejected({ message: INVALID_API_KEY_TEXT })
          }
          return yield* httpEffect
        })
    })
  })
)
