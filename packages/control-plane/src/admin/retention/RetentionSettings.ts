import { ControlPlaneSettings, readSettings, type SettingValues } from "@runplane/server"

const settings = {
  enabled: ControlPlaneSettings.DATA_RETENTION_ENABLED,
  /** Days for which data is kept. */
  ttlDays: ControlPlaneSettings.DATA_RETENTION_TTL_DAYS,
  /** Hours between two sweeps. */
  intervalHours: ControlPlaneSettings.DATA_RETENTION_INTERVAL_HOURS,
  /** Most runs that one transaction deletes. */
  batchSize: ControlPlaneSettings.DATA_RETENTION_BATCH_SIZE
}

export type RetentionOptions = SettingValues<typeof settings>

/** The DATA_RETENTION_* settings. */
export const retentionSettings = readSettings(settings)
