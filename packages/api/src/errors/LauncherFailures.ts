import { failure } from "./Failure.ts"
import * as Errors from "./LauncherErrors.ts"

/** The ways in which operations of the launch service fail, each with its error (docs/internals/launch.md#errors). */

export const InvalidScenarioRef = failure("InvalidScenarioRef", Errors.LaunchRejected)
export const InvalidInputs = failure("InvalidInputs", Errors.LaunchRejected)
export const CompilationFailed = failure("CompilationFailed", Errors.LaunchRejected)
export const PackNotFound = failure("PackNotFound", Errors.CatalogEntryNotFound)
export const ScenarioNotFound = failure("ScenarioNotFound", Errors.CatalogEntryNotFound)
export const VersionNotFound = failure("VersionNotFound", Errors.CatalogEntryNotFound)
export const TemplateNotFound = failure("TemplateNotFound", Errors.CatalogEntryNotFound)
export const AgentNotFound = failure("AgentNotFound", Errors.CatalogEntryNotFound)
export const ProcessNotFound = failure("ProcessNotFound", Errors.CatalogEntryNotFound)
export const LaunchUnaffordable = failure("LaunchUnaffordable", Errors.LaunchUnaffordable)
export const LaunchConflict = failure("LaunchConflict", Errors.LaunchConflict)
export const InvalidPackData = failure("InvalidPackData", Errors.LauncherFault)
export const InvalidConfig = failure("InvalidConfig", Errors.LauncherFault)
export const AuthMintFailed = failure("AuthMintFailed", Errors.AgentStartFailed)
export const AgentAttachFailed = failure("AgentAttachFailed", Errors.AgentStartFailed)
export const LaunchesFull = failure("LaunchesFull", Errors.LaunchesFull)

/** The failures of a compilation. */
export const compilation = [
  InvalidScenarioRef,
  InvalidInputs,
  CompilationFailed,
  PackNotFound,
  ScenarioNotFound,
  VersionNotFound,
  TemplateNotFound,
  InvalidPackData
] as const
