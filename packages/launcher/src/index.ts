export { packsCommand } from "./author/Commands.ts"
export { PacksFaulty, ReportFormat } from "./author/Report.ts"
export { OWN_PACKS } from "./catalog/OwnPacks.ts"
export { type PolicyOutcome, PolicyRegistration } from "./control-plane/PolicyRegistration.ts"
export { layerFromSettings } from "./FromSettings.ts"
export { Launcher } from "./Launcher.ts"
export type {
  AuthSettings,
  CancelCallbackSettings,
  ControlPlaneSettings,
  LauncherOptions
} from "./LauncherSettings.ts"
