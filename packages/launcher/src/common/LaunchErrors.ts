import * as Data from "effect/Data"
import type { JsonObject } from "./Json.ts"

/**
 * What can go wrong between a launch request and its answer. The messages are part of
 * the HTTP contract; the handlers translate each error into the class of packages/api with the same code.
 */
export class InvalidScenarioRef extends Data.TaggedError("InvalidScenarioRef")<{
  readonly scenarioRef: string
  readonly problem: "missing '@'" | "missing '/'" | "empty component"
}> {
  override get message() {
    return `invalid scenarioRef: ${this.problem} in "${this.scenarioRef}"`
  }
}

export class PackNotFound extends Data.TaggedError("PackNotFound")<{ readonly pack: string }> {
  override get message() {
    return `pack not found: ${this.pack}`
  }
}

export class ScenarioNotFound extends Data.TaggedError("ScenarioNotFound")<{
  readonly pack: string
  readonly scenario: string
}> {
  override get message() {
    return `scenario not found: ${this.pack}/${this.scenario}`
  }
}

export class VersionNotFound extends Data.TaggedError("VersionNotFound")<{
  readonly pack: string
  readonly scenario: string
  readonly version: string
}> {
  override get message() {
    return `version not found: ${this.pack}/${this.scenario}@${this.version}`
  }
}

export class TemplateNotFound extends Data.TaggedError("TemplateNotFound")<{
  readonly template: string
  readonly pack: string
  readonly scenario: string
  readonly version: string
}> {
  override get message() {
    return `template not found: ${this.template} for ${this.pack}/${this.scenario}@${this.version}`
  }
}

export class AgentNotFound extends Data.TaggedError("AgentNotFound")<{ readonly agentRef: string }> {
  override get message() {
    return `example agent not found: ${this.agentRef}`
  }
}

/** `errors` is the validator's own list, unchanged. */
export class InputsInvalid extends Data.TaggedError("InputsInvalid")<{ readonly errors: ReadonlyArray<JsonObject> }> {
  override get message() {
    return "Input validation failed"
  }
}

export class CompilationFailed extends Data.TaggedError("CompilationFailed")<{ readonly message: string }> {}

/** A pack file on disk is malformed. `file` is relative to the packs directory, never a path of this machine. */
export class InvalidPackData extends Data.TaggedError("InvalidPackData")<{
  readonly file: string
  readonly message: string
  /** Keys that lead to the value in question, where the message does not name its line yet. */
  readonly at?: ReadonlyArray<string>
}> {}

/** The deployment is configured wrongly: at start it stops the service, at request time it is a 500. */
export class InvalidConfig extends Data.TaggedError("InvalidConfig")<{ readonly message: string }> {}

export class AuthMintFailed extends Data.TaggedError("AuthMintFailed")<{
  readonly message: string
  /** HTTP status of the auth service, when it answered at all. */
  readonly status?: number
}> {}

export interface FailedParticipant {
  readonly participantId: string
  readonly agentRef: string
  readonly reason: string
}

export class AgentAttachFailed extends Data.TaggedError("AgentAttachFailed")<{
  readonly sessionId: string
  readonly failedParticipants: ReadonlyArray<FailedParticipant>
}> {
  override get message() {
    return `agents failed to attach: ${this.failedParticipants.map((failed) => failed.participantId).join(", ")}`
  }
}

/** Failures of looking a scenario version up. */
export type LookupFailure = PackNotFound | ScenarioNotFound | VersionNotFound

/** Failures of `LaunchCompiler.compile`. */
export type CompileFailure =
  | InvalidScenarioRef
  | LookupFailure
  | TemplateNotFound
  | InputsInvalid
  | CompilationFailed
  | InvalidPackData
