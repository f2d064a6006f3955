import * as Config from "effect/Config"
import { flag } from "../Settings.ts"
import { strictInteger } from "../settings/StrictInteger.ts"

/** Defaults of run-control-plane "Limits", data retention. */
export const RETENTION_TTL_DAYS = 30
export const RETENTION_INTERVAL_HOURS = 24
export const RETENTION_BATCH_SIZE = 500

export interface RetentionOptions {
  readonly enabled: boolean
  /** Days for which data is kept. */
  readonly ttlDays: number
  /** Hours between two sweeps. */
  readonly intervalHours: number
  /** Most runs that one transaction deletes. */
  readonly batchSize: number
}

/** The DATA_RETENTION_* settings. A value that cannot be used stops the start: a guess here would delete data. */
export const retentionSettings: Config.Config<RetentionOptions> = Config.all({
  enabled: flag("DATA_RETENTION_ENABLED", false),
  ttlDays: strictInteger("DATA_RETENTION_TTL_DAYS", RETENTION_TTL_DAYS, 1),
  intervalHours: strictInteger("DATA_RETENTION_INTERVAL_HOURS", RETENTION_INTERVAL_HOURS, 1),
  batchSize: strictInteger("DATA_RETENTION_BATCH_SIZE", RETENTION_BATCH_SIZE, 1)
})
