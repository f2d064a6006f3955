export { type ControlPlaneOptions, layerControlPlane, layerFromSettings } from "./ControlPlane.ts"
export { DatabaseUnavailable, databaseSettings, migrateDatabase } from "./database/Database.ts"
export { layerRuntime } from "./edge/RuntimeFromSettings.ts"
export { judgeControlPlaneSettings } from "./SettingsCheck.ts"
