import { ApiKeyRejected, INVALID_API_KEY_TEXT, LauncherApiKey } from "@runplane/api"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Layer from "effect/Layer"
import { readSetting } from "../settings/ReadSettings.ts"
import { ServiceSettings } from "../settings/ServiceSettings.ts"
import { indexOfKey } from "./ApiKeys.ts"

/** The launch service's guard over `x-api-key`; open when no key is configured. */
export const layerLauncherApiKey = Layer.effect(
  LauncherApiKey,
  Effect.gen(function* () {
    const keys = yield* readSetting(ServiceSettings.AUTH_API_KEYS)
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
