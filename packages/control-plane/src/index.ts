export { DatabaseUnavailable } from "@runplane/database"
export { type ControlPlaneOptions, layerControlPlane, layerFromSettings } from "./ControlPlane.ts"
export { eventTexts } from "./event-log/seal/DigestedTexts.ts"
export { emptyChain, extendDigested } from "./event-log/seal/HashChain.ts"
export { archiveOnce, compactArchive } from "./features/archive/ArchiveOnce.ts"
export { layerRuntime } from "./platform/http/RuntimeFromSettings.ts"
export { TALLY_LOCK } from "./platform/postgres/AdvisoryLocks.ts"
export type { BackupProgress } from "./platform/postgres/backup/Backup.ts"
export {
  backupDatabase,
  type DatabaseOptions,
  databaseSettings,
  migrateDatabase,
  restoreDatabase
} from "./platform/postgres/Database.ts"
export { validateControlPlaneSettings } from "./SettingsCheck.ts"
