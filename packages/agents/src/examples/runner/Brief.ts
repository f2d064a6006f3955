import type { MessageInitShape } from "@bufbuild/protobuf"
import type { SessionStartPayloadSchema } from "@runplane/runtime"
import * as Base64 from "effect/encoding/Base64"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { BootstrapFile, SessionStartBlock } from "../../client/Bootstrap.ts"

/** An agent's own data and its session's, as strategies need them. */
export interface Brief {
  /** The participant that the agent plays. */
  readonly self: string
  readonly agentRef: string
  readonly role: string
  readonly framework: string
  /** All participants, itself included, in the scenario's order. */
  readonly participants: ReadonlyArray<string>
  /** People, and agents that speak A2A: nothing is decided without them before their deadline. */
  readonly people: ReadonlyArray<PersonWait>
  /** The scenario's facts; a strategy decodes the ones that it knows. */
  readonly context: unknown
  /** The scenario's advice about its policy. */
  readonly hints: unknown
  /**
   * What the agent's variety follows from: `seed` of a gate, else of the session context, else the session id. The
   * same facts and the same seed make the agent say the same things.
   */
  readonly seed: string
  readonly versions: { readonly mode: string; readonly configuration: string; readonly policy: string }
  /** Only for the initiator. */
  readonly opening: Opening | undefined
}

/** A person who takes part. */
export interface PersonWait {
  readonly participant: string
  /** Whether the person may evaluate or object, which no vote may precede. */
  readonly evaluates: boolean
  /** How long it may take, from the last evaluation of the others on. Milliseconds; undefined: as long as it likes. */
  readonly waitMs: number | undefined
}

/** A person receives the question within this time after the last evaluation of the others. Milliseconds. */
const QUESTION_MS = 60_000

export interface Opening {
  readonly start: MessageInitShape<typeof SessionStartPayloadSchema>
  /** The first message of the scenario as JSON, empty when it has none. */
  readonly kickoff: Schema.JsonObject
}

/** The brief of a bootstrap file; the failure says what in it cannot be used. */
export const briefOf = (bootstrap: BootstrapFile): Result.Result<Brief, string> => {
  const { initiator, metadata, session_id } = bootstrap
  const brief: Brief = {
    self: bootstrap.participant_id,
    agentRef: metadata.agent_ref ?? bootstrap.participant_id,
    role: metadata.role ?? "",
    framework: metadata.framework ?? "custom",
    participants: bootstrap.participants,
    people: (bootstrap.wait_for ?? []).map(({ deadline_ms, evaluates, participant_id }) => ({
      participant: participant_id,
      evaluates,
      waitMs: deadline_ms === undefined ? undefined : deadline_ms + QUESTION_MS
    })),
    context: metadata.session_context ?? {},
    hints: metadata.policy_hints ?? {},
    seed: seedOf(metadata) ?? seedOf(metadata.session_context) ?? session_id,
    versions: {
      mode: bootstrap.mode_version,
      configuration: bootstrap.configuration_version,
      policy: bootstrap.policy_version ?? ""
    },
    opening: undefined
  }
  if (initiator === undefined) return Result.succeed(brief)
  return Result.map(startOf(initiator.session_start), (start) => ({
    ...brief,
    opening: { start, kickoff: initiator.kickoff?.payload ?? {} }
  }))
}

const decodeSeed = Schema.decodeUnknownOption(
  Schema.Struct({ seed: Schema.Union([Schema.NonEmptyString, Schema.Finite]) })
)

const seedOf = (context: unknown): string | undefined =>
  Option.getOrUndefined(Option.map(decodeSeed(context), ({ seed }) => String(seed)))

const startOf = (block: SessionStartBlock): Result.Result<Opening["start"], string> =>
  Result.map(extensionsOf(block.extensions ?? {}), (extensions) => ({
    intent: block.intent,
    participants: [...block.participants],
    ttlMs: BigInt(block.ttl_ms),
    maxSuspendMs: BigInt(block.max_suspend_ms ?? 0),
    modeVersion: block.mode_version,
    configurationVersion: block.configuration_version,
    policyVersion: block.policy_version ?? "",
    contextId: block.context_id ?? "",
    extensions
  }))

const extensionsOf = (
  extensions: Readonly<Record<string, string>>
): Result.Result<Record<string, Uint8Array<ArrayBuffer>>, string> => {
  const decoded: Record<string, Uint8Array<ArrayBuffer>> = {}
  for (const [key, text] of Object.entries(extensions)) {
    const bytes = Base64.decode(text)
    if (Result.isFailure(bytes)) return Result.fail(`extension ${key} of the bootstrap file is not base64`)
    decoded[key] = new Uint8Array(bytes.success)
  }
  return Result.succeed(decoded)
}
