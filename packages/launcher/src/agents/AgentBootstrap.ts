import type { CompileLaunchResult, LaunchInitiator } from "@runplane/api"
import { BARRIER_MS, objectAt, type SeatText, seatMode, seatRules, turnSeat } from "@runplane/domain"
import type * as Stream from "effect/Stream"
import type { JsonObject } from "../common/Json.ts"
import type { LauncherSettingsShape } from "../LauncherSettings.ts"
import type { BootstrapContent } from "./BootstrapContent.ts"
import type { CancelCallback } from "./CancelCallbacks.ts"

/** One participant of one launch, ready to be started. */
export interface AgentAssignment {
  readonly compiled: CompileLaunchResult
  readonly binding: CompileLaunchResult["participantBindings"][number]
  /** The agent's bearer credential at the runtime. */
  readonly token: string
  /** Credentials that replace it before it ends; none without. */
  readonly renewals?: Stream.Stream<string>
  readonly framework: string
  /** Where it listens for a cancel request; undefined when it does not. */
  readonly cancelCallback?: CancelCallback | undefined
  /** An entry of `OTEL_EXPORTER_OTLP_HEADERS` that lets its spans join the run; undefined without one. */
  readonly joinHeader?: string | undefined
  /** The agent is tried beside its participant: under this name, and with a server of its own as its runtime. */
  readonly shadow?: ShadowAssignment | undefined
}

export interface ShadowAssignment {
  readonly name: string
  /** `host:port` on this machine, without TLS. */
  readonly runtimeAddress: string
}

/** The runtime that an agent connects to. */
const runtimeOf = ({ shadow }: AgentAssignment, settings: LauncherSettingsShape) =>
  shadow === undefined
    ? {
        address: settings.runtimeAddress,
        tls: settings.runtimeTls,
        allowInsecure: settings.runtimeAllowInsecure
      }
    : { address: shadow.runtimeAddress, tls: false, allowInsecure: true }

/** Content of the bootstrap file with the identity of an agent. Absent values leave no key. */
export const bootstrapOf = (assignment: AgentAssignment, settings: LauncherSettingsShape): BootstrapContent => {
  const { compiled, binding, token, framework, cancelCallback, joinHeader } = assignment
  const { session } = compiled.runDescriptor
  const { policyHints, sessionContext } = compiled.scenarioMeta
  const isInitiator = compiled.initiator?.participantId === binding.participantId
  const runtime = runtimeOf(assignment, settings)
  return {
    participant_id: binding.participantId,
    session_id: compiled.sessionId,
    mode: session.modeName,
    runtime_url: runtime.address,
    auth_token: token,
    secure: runtime.tls,
    allow_insecure: runtime.allowInsecure,
    participants: session.participants.map(({ id }) => id),
    mode_version: session.modeVersion,
    configuration_version: session.configurationVersion,
    ...present("policy_version", session.policyVersion),
    ...(compiled.initiator !== undefined && isInitiator ? { initiator: initiatorBlock(compiled.initiator) } : {}),
    ...present("wait_for", waitsOf(compiled)),
    ...present("cancel_callback", cancelCallback),
    ...present("otlp_headers", joinHeader),
    metadata: {
      run_id: compiled.sessionId,
      scenario_ref: compiled.display.scenarioRef,
      role: binding.role,
      framework,
      agent_ref: binding.agentRef,
      ...seedOf(session.metadata),
      ...present("policy_hints", policyHints),
      ...present("session_context", sessionContext)
    }
  }
}

/** The people and the agents that speak A2A of the session, for agents that hold their votes; undefined without any. */
const waitsOf = ({ a2a = {}, people = {}, runDescriptor }: CompileLaunchResult): BootstrapContent["wait_for"] => {
  const mode = seatMode(runDescriptor.session.modeName)
  if (mode === undefined) return undefined
  const waitFor = (participantId: string, text: SeatText, withoutDeadlineMs?: number) => {
    const { acts, deadlineMs = withoutDeadlineMs } = seatRules(mode, text)
    const evaluates = acts.some((act) => act === "evaluate" || act === "object")
    return { participant_id: participantId, evaluates, ...present("deadline_ms", deadlineMs) }
  }
  const waits = [
    ...Object.entries(people).map(([id, text]) => waitFor(id, text)),
    // A turn can fail without an act: agents wait for it no longer than for each other.
    ...Object.entries(a2a).map(([id, { rules }]) => waitFor(id, turnSeat(rules), BARRIER_MS))
  ]
  return waits.length === 0 ? undefined : waits
}

/** Seed and model that the case of a gate gives its agents (docs/reference/gate.md#seed). */
const seedOf = (metadata: JsonObject | undefined) => {
  const { model, seed } = objectAt(metadata ?? {}, "gate") ?? {}
  return {
    ...present("seed", typeof seed === "string" || typeof seed === "number" ? seed : undefined),
    ...present("model", typeof model === "string" ? model : undefined)
  }
}

/**
 * Variables that identify an agent's run to it, each under both prefixes because published SDKs know only one of them.
 */
export const environmentOf = (
  assignment: AgentAssignment,
  settings: LauncherSettingsShape,
  bootstrapFile: string
): Readonly<Record<string, string>> => {
  const { compiled, binding, token, framework, cancelCallback: callback, shadow } = assignment
  const runtime = runtimeOf(assignment, settings)
  const values = {
    BOOTSTRAP_FILE: bootstrapFile,
    FRAMEWORK: framework,
    PARTICIPANT_ID: binding.participantId,
    RUN_ID: compiled.sessionId,
    SESSION_ID: compiled.sessionId,
    RUNTIME_ADDRESS: runtime.address,
    RUNTIME_TOKEN: token,
    RUNTIME_TLS: String(runtime.tls),
    RUNTIME_ALLOW_INSECURE: String(runtime.allowInsecure),
    CANCEL_CALLBACK_HOST: callback?.host ?? "",
    CANCEL_CALLBACK_PORT: callback === undefined ? "" : String(callback.port),
    CANCEL_CALLBACK_PATH: callback?.path ?? "",
    LOG_LEVEL: "info"
  }
  const named = Object.entries(values).flatMap(([name, value]) => [
    [`MACP_${name}`, value],
    [`PROTO_${name}`, value]
  ])
  // Its spans say that they are of a shadow, which no cost of the run has.
  const resource =
    shadow === undefined ? [] : [["OTEL_RESOURCE_ATTRIBUTES", `${SHADOW}=${encodeURIComponent(shadow.name)}`]]
  return Object.fromEntries([...named, ...resource])
}

/** The resource attribute of the spans of a shadow. */
const SHADOW = "runplane.shadow"

const initiatorBlock = ({ sessionStart, kickoff }: LaunchInitiator): NonNullable<BootstrapContent["initiator"]> => ({
  session_start: {
    intent: sessionStart.intent,
    participants: sessionStart.participants,
    ttl_ms: sessionStart.ttlMs,
    ...present("max_suspend_ms", sessionStart.maxSuspendMs),
    mode_version: sessionStart.modeVersion,
    configuration_version: sessionStart.configurationVersion,
    ...present("policy_version", sessionStart.policyVersion),
    ...present("context_id", sessionStart.contextId),
    ...present("extensions", sessionStart.extensions)
  },
  ...(kickoff === undefined
    ? {}
    : {
        kickoff: {
          message_type: kickoff.messageType,
          ...present("payload_type", kickoff.payloadType),
          payload: kickoff.payload
        }
      })
})

const present = <K extends string, V>(key: K, value: V | undefined): { readonly [Key in K]?: V } =>
  value === undefined ? {} : ({ [key]: value } as { readonly [Key in K]: V })
