export { Authenticator, type SignedTokenOptions, StaticToken, StaticTokens } from "./auth/Authenticator.ts"
export { CredentialRefused } from "./auth/CredentialRefused.ts"
export type { Identity } from "./auth/Identity.ts"
export { JsonWebKeySet, TokenAlgorithm } from "./auth/JsonWebKeys.ts"
export { KeySource, KeysUnavailable } from "./auth/KeySource.ts"
export { layerFromSettings } from "./FromSettings.ts"
export { Fault, FaultStatus, FaultStream } from "./faults/Fault.ts"
export type { ActiveFault } from "./faults/FaultPlan.ts"
export { SandboxFaults } from "./faults/SandboxFaults.ts"
export { SessionNotFound } from "./kernel/KernelFailure.ts"
export { PolicyRefused } from "./kernel/PolicyRegistry.ts"
export { BundleUnreadable } from "./recorded/RecordedRun.ts"
export { type Replayed, type ReplayOptions, SessionIdTaken } from "./recorded/Replay.ts"
export { type PolicyToRegister, Sandbox } from "./Sandbox.ts"
export { DEFAULT_OPTIONS, type RateLimitOptions, REAL_RATE_LIMITS, type SandboxOptions } from "./SandboxOptions.ts"
export { AddressInUse, ListenFailed } from "./server/Listener.ts"
export { SHADOW_LIMITS, type ShadowLimits } from "./shadow/ShadowLimits.ts"
export {
  makeShadowRuntime,
  type ShadowMessage,
  type ShadowRuntime,
  type ShadowRuntimeOptions,
  ShadowUnable
} from "./shadow/ShadowRuntime.ts"
