export { type ControlPlaneOptions, layerControlPlane, layerFromSettings } from "./ControlPlane.ts"
export { DatabaseUnavailable } from "./database/Database.ts"
export { checkControlPlaneSettings } from "./SettingsCheck.ts"
