import * as Effect from "effect/Effect"
import { readSettings } from "./ReadSettings.ts"
import { ServiceSettings } from "./ServiceSettings.ts"

const LOOPBACK = "127.0.0.1"
const EVERYWHERE = "0.0.0.0"

const settings = { given: ServiceSettings.HOST, keys: ServiceSettings.AUTH_API_KEYS }

/**
 * The address that a service listens on: what HOST says, else every address with API keys and the loopback without
 * (docs/http.md#api-keys).
 */
export const listenHost = Effect.map(
  readSettings(settings),
  ({ given, keys }) => given ?? (keys.length > 0 ? EVERYWHERE : LOOPBACK)
)

/** Says in one line that a service lets everybody in; to be run when it listens. */
export const sayOpenDoors = Effect.gen(function* () {
  const { given, keys } = yield* readSettings(settings)
  if (keys.length > 0) return
  yield* Effect.logWarning(
    given === undefined
      ? `without AUTH_API_KEYS every caller is let in: listening on ${LOOPBACK} alone, unless HOST says otherwise`
      : `without AUTH_API_KEYS every caller who reaches ${given} is let in`
  )
})
