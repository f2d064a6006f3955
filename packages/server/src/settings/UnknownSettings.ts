import { nearestName } from "@runplane/domain"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import { removedNames } from "./FormerSettings.ts"
import type { SettingProblem } from "./ReadSettings.ts"
import { settingNames } from "./SettingsTable.ts"

/**
 * Prefixes that are ours alone. `MACP_`, `OTEL_` and short ones such as `SESSION_` are not: other programs of the
 * machine use them.
 */
const PREFIXES: ReadonlyArray<string> = [
  ...["PROTO_", "RUNPLANE_", "SANDBOX_", "RUNTIME_", "OIDC_", "STREAM_", "WEBHOOK_", "THROTTLE_", "REPLAY_"],
  ...["SESSION_POLL_", "SESSION_DISCOVERY_", "DATA_RETENTION_", "DB_POOL_", "CANCEL_CALLBACK_", "EXAMPLE_AGENT_"],
  ...["EXAMPLE_LAUNCH_", "AUTH_API_", "AUTH_FAILURE_", "PROJECTION_", "RUN_TAKE_", "CLUSTER_L"]
]

/**
 * Names with one of our prefixes that our documents give to other programs: the receiver of a webhook, and the compose
 * files, which pass them on.
 */
export const foreignNames: ReadonlySet<string> = new Set([
  ...["WEBHOOK_SECRET", "RUNPLANE_KEY", "RUNPLANE_KEYS", "RUNPLANE_IMAGE"],
  // The launch service marks its agents with it.
  "RUNPLANE_AGENT"
])

/** Characters in which another name may differ from ours and still be meant for it: a forgotten `_MS`, two swapped. */
const slipsOf = (name: string): number => (name.length < SHORTEST_FOR_SLIPS ? 0 : Math.min(3, name.length / 4))
/** `HOST` and `PORT` are near too much. */
const SHORTEST_FOR_SLIPS = 8

/** Names that no program reads and that have one of our prefixes or are nearly one of ours, each with the nearest. */
export const unknownSettings = (names: Iterable<string>): ReadonlyArray<SettingProblem> =>
  Array.from(names).flatMap((variable) => {
    if (settingNames.has(variable) || removedNames.has(variable) || foreignNames.has(variable)) return []
    const isOurs = PREFIXES.some((prefix) => variable.startsWith(prefix))
    const slips = isOurs ? Number.POSITIVE_INFINITY : slipsOf(variable)
    const nearest = slips === 0 ? undefined : nearestName(variable, settingNames)
    if (nearest === undefined || nearest.distance > slips) return []
    return [{ variable, problem: `is not a setting; did you mean ${nearest.name}?` }]
  })

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
