import {
  type AgentStartFailed,
  type LaunchConflict,
  type LauncherError,
  type LaunchesFull,
  type LaunchUnaffordable,
  launcherError
} from "@runplane/api"
import * as Data from "effect/Data"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { JsonObject } from "./Json.ts"

/** A failure on one line: a text from another service must not forge lines of the log. */
export const oneLine = (failure: { readonly message: unknown }) =>
  String(failure.message).replace(/\s*[\r\n]+\s*/g, " ")

/** An agent that did not start or did not stay; the reason goes into AGENT_ATTACH_FAILED. */
export class AgentNotAttached extends Data.TaggedError("AgentNotAttached")<{
  readonly reason: string
  /** Keys of the manifest that lead to the value at fault, if there is one. */
  readonly at?: ReadonlyArray<string>
  /** What its author can do about it. */
  readonly remedy?: string
}> {}

/**
 * The errors of a launch request in the HTTP contract, with their texts (docs/internals/launch.md#errors).
 */

interface VersionRef {
  readonly pack: string
  readonly scenario: string
  readonly version: string
}

export const invalidScenarioRef = (scenarioRef: string, problem: string) =>
  launcherError("INVALID_SCENARIO_REF", `invalid scenarioRef: ${problem} in "${scenarioRef}"`)

export const packNotFound = (pack: string) => launcherError("PACK_NOT_FOUND", `pack not found: ${pack}`)

export const scenarioNotFound = ({ pack, scenario }: Omit<VersionRef, "version">) =>
  launcherError("SCENARIO_NOT_FOUND", `scenario not found: ${pack}/${scenario}`)

export const versionNotFound = ({ pack, scenario, version }: VersionRef) =>
  launcherError("VERSION_NOT_FOUND", `version not found: ${pack}/${scenario}@${version}`)

export const templateNotFound = (template: string, { pack, scenario, version }: VersionRef) =>
  launcherError("TEMPLATE_NOT_FOUND", `template not found: ${template} for ${pack}/${scenario}@${version}`)

export const processNotFound = (id: string) => launcherError("PROCESS_NOT_FOUND", `no agent process has the id ${id}`)

/** `position` is that of the launch in the queue, from 1, or the length of the queue. */
export const launchesFull = (why: string, position: number) =>
  launcherError("LAUNCHES_FULL", `no free slots for the agents of another launch: ${why}`, { position })

/** People have too many questions already. No launch waits for their answers: the position is 0. */
export const itemsFull = (why: string) =>
  launcherError("LAUNCHES_FULL", `no free items for the people of another launch: ${why}`, { position: 0 })

/** `message` and `metadata` (the rule, its figures and the end of its period) are the control plane's. */
export const launchUnaffordable = (message: string, metadata?: JsonObject) =>
  launcherError("BUDGET_EXHAUSTED", message, metadata)

/** Another body under a key, as the control plane says it of its keys. */
export const keyUsed = (key: string) =>
  launcherError("CONFLICT", `the idempotencyKey ${key} has been used with another body`)

export const keyExhausted = (key: string, attempts: number) =>
  launcherError("CONFLICT", `${attempts} launches with the idempotencyKey ${key} have failed: use another key`)

export const agentNotFound = (agentRef: string) =>
  launcherError("AGENT_NOT_FOUND", `example agent not found: ${agentRef}`)

/** `errors` is the validator's own list, unchanged. */
export const inputsInvalid = (errors: ReadonlyArray<JsonObject>) =>
  launcherError("VALIDATION_ERROR", "Input validation failed", { errors })

export const compilationFailed = (message: string) => launcherError("COMPILATION_ERROR", message)

/** A pack on disk is malformed; `message` names file, line and reason. */
export const invalidPackData = (message: string) => launcherError("INVALID_PACK_DATA", message)

/** The deployment is configured wrongly: at start it stops the service, at request time it is a 500. */
export const invalidConfig = (message: string) => launcherError("INVALID_CONFIG", message)

/** `status` is the HTTP status of the auth service, when it answered at all. */
export const authMintFailed = (message: string, status?: number) =>
  launcherError("AUTH_MINT_FAILED", message, status === undefined ? undefined : { status })

export interface FailedParticipant {
  readonly participantId: string
  readonly agentRef: string
  readonly reason: string
}

export const agentAttachFailed = (sessionId: string, failed: ReadonlyArray<FailedParticipant>) =>
  launcherError(
    "AGENT_ATTACH_FAILED",
    `agents failed to attach: ${failed.map(({ participantId }) => participantId).join(", ")}`,
    { sessionId, failedParticipants: failed.map((participant) => ({ ...participant })) }
  )

const decodeFailed = Schema.decodeUnknownOption(
  Schema.Array(Schema.Struct({ participantId: Schema.String, agentRef: Schema.String, reason: Schema.String }))
)

/** The participants that an error of a launch names as failed. */
export const failedParticipantsOf = ({ metadata }: LauncherError): ReadonlyArray<FailedParticipant> =>
  Option.getOrElse(decodeFailed(metadata?.["failedParticipants"]), () => [])

/** Failures of a read of the catalog, and of a compilation. */
export type CompileFailure = Exclude<
  LauncherError,
  AgentStartFailed | LaunchConflict | LaunchesFull | LaunchUnaffordable
>

/** A pack file on disk cannot be read at all; the message names it. */
export class UnreadableFile extends Data.TaggedError("UnreadableFile")<{ readonly message: string }> {}

/** A pack file on disk is malformed. `file` is relative to the packs directory, never a path of this machine. */
export class InvalidPackData extends Data.TaggedError("InvalidPackData")<{
  readonly file: string
  readonly message: string
  /** Keys that lead to the value in question, where the message does not name its line yet. */
  readonly at?: ReadonlyArray<string>
}> {}
