import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import { nearestName } from "../Nearest.ts"
import type { SettingProblem } from "./ReadSettings.ts"
import { settingNames } from "./SettingsTable.ts"

/**
 * Prefixes that are ours alone. `MACP_`, `OTEL_` and short ones such as `SESSION_` are not: other programs of the
 * machine use them.
 */
const PREFIXES: ReadonlyArray<string> = [
  ...["PROTO_", "RUNPLANE_", "SANDBOX_", "RUNTIME_", "SESSION_POLL_", "SESSION_DISCOVERY_", "STREAM_", "WEBHOOK_"],
  ...["THROTTLE_", "DATA_RETENTION_", "DB_POOL_", "REPLAY_", "CANCEL_CALLBACK_", "EXAMPLE_AGENT_", "AUTH_API_"]
]

/** Names with one of our prefixes that no program reads, each with the nearest name that one does. */
export const unknownSettings = (names: Iterable<string>): ReadonlyArray<SettingProblem> =>
  Array.from(names)
    .filter((name) => !settingNames.has(name) && PREFIXES.some((prefix) => name.startsWith(prefix)))
    .map((variable) => ({
      variable,
      problem: `is not a setting; did you mean ${nearestName(variable, settingNames)?.name}?`
    }))

/** The names that the current `ConfigProvider` has values for. */
export const configuredNames = Effect.gen(function* () {
  const provider = yield* ConfigProvider.ConfigProvider
  const walk = (path: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<string>, ConfigProvider.SourceError> =>
    Effect.gen(function* () {
      const node = yield* provider.load(path)
      if (node === undefined) return []
      const own = node.value === undefined ? [] : [path.join("_")]
      if (node._tag === "Value") return own
      const below = node._tag === "Record" ? [...node.keys] : Array.from({ length: node.length }, (_, at) => `${at}`)
      const nested = yield* Effect.forEach(below, (key) => walk([...path, key]))
      return [...own, ...nested.flat()]
    })
  return yield* walk([])
})
