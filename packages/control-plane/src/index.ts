export { type ControlPlaneOptions, layerControlPlane, layerFromSettings } from "./ControlPlane.ts"
export { DatabaseUnavailable } from "./database/Database.ts"
export { ListenFailed } from "./http/Server.ts"
export { checkSettings, type SettingFault, SettingsRefused } from "./settings/SettingsCheck.ts"
