import * as Effect from "effect/Effect"
import { isOpen } from "./DeploymentRules.ts"
import { readSettings } from "./ReadSettings.ts"
import { ServiceSettings } from "./ServiceSettings.ts"

const LOOPBACK = "127.0.0.1"
const EVERYWHERE = "0.0.0.0"

const settings = {
  given: ServiceSettings.HOST,
  keys: ServiceSettings.AUTH_API_KEYS,
  issuer: ServiceSettings.OIDC_ISSUER
}

/**
 * The address that a service listens on: what HOST says, else every address with API keys or an issuer of tokens, and
 * the loopback without (docs/reference/http.md#api-keys).
 */
export const listenHost = Effect.map(
  readSettings(settings),
  ({ given, ...authentication }) => given ?? (isOpen(authentication) ? LOOPBACK : EVERYWHERE)
)

/** Logs that a service accepts every request; runs when the service listens. */
export const warnWithoutAuthentication = Effect.gen(function* () {
  const { given, ...authentication } = yield* readSettings(settings)
  if (!isOpen(authentication)) return
  yield* Effect.logWarning(
    given === undefined
      ? `without AUTH_API_KEYS every caller is let in: listening on ${LOOPBACK} alone, unless HOST says otherwise`
      : `without AUTH_API_KEYS every caller that reaches ${given} has access`
  )
})
