import { ControlPlaneSettings, readSettings } from "@runplane/server"
import * as Effect from "effect/Effect"

/** Without retention a call that states an older time has a wrong clock. */
const OLDEST_DAYS = 366
const DAY_MS = 86_400_000

/** The age up to which a call counts at its own time (docs/reference/alerts.md#late). Milliseconds. */
export const callsKeptMs = readSettings({
  isDeleted: ControlPlaneSettings.DATA_RETENTION_ENABLED,
  days: ControlPlaneSettings.DATA_RETENTION_TTL_DAYS
}).pipe(
  Effect.map(({ days, isDeleted }) => (isDeleted ? days : OLDEST_DAYS) * DAY_MS),
  Effect.orDie
)
