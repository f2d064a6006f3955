export { InvalidConfig, InvalidPackData } from "./LaunchErrors.ts"
export { Launcher, ListenFailed, type ListenOptions } from "./Launcher.ts"
export {
  AGENT_STOP_GRACE_MS,
  ATTACH_CONFIRMATION_MS,
  type AuthSettings,
  type CancelCallbackSettings,
  type ControlPlaneSettings,
  DEFAULT_SERVICE_NAME,
  type LauncherOptions
} from "./LauncherSettings.ts"
export { type PolicyOutcome, PolicyRegistration } from "./PolicyRegistration.ts"
