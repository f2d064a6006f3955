export { type PolicyOutcome, PolicyRegistration } from "./control-plane/PolicyRegistration.ts"
export { Launcher } from "./Launcher.ts"
export type {
  AuthSettings,
  CancelCallbackSettings,
  ControlPlaneSettings,
  LauncherOptions
} from "./LauncherSettings.ts"
