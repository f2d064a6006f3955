import type { AgentManifest, InitializeResponse, ModeDescriptor, Root } from "./gen/macp/v1/core_pb.ts"
import type { PolicyDescriptor } from "./gen/macp/v1/policy_pb.ts"

/**
 * What a runtime says about itself and its registries, as plain values. Empty text on the wire means "not given" and
 * leaves the key out.
 */

export interface RuntimeCapabilities {
  readonly sessions: { readonly stream: boolean; readonly listSessions: boolean; readonly watchSessions: boolean }
  readonly cancellation: { readonly cancelSession: boolean }
  readonly progress: { readonly progress: boolean }
  readonly manifest: { readonly getManifest: boolean }
  readonly modeRegistry: { readonly listModes: boolean; readonly listChanged: boolean }
  readonly roots: { readonly listRoots: boolean; readonly listChanged: boolean }
  readonly policyRegistry: {
    readonly registerPolicy: boolean
    readonly listPolicies: boolean
    readonly listChanged: boolean
  }
  /** Whether the runtime issues receipts of decisions, and whether it signs them. */
  readonly decisionReceipt: { readonly getDecisionReceipt: boolean; readonly signed: boolean }
  /** Named features outside of the stable contract. */
  readonly experimental: Readonly<Record<string, string>>
}

/** Answer of Initialize. */
export interface RuntimeIdentity {
  readonly protocolVersion: string
  readonly name: string
  readonly version: string
  readonly title?: string
  readonly description?: string
  readonly websiteUrl?: string
  readonly instructions?: string
  /** Standard and extension mode ids. */
  readonly supportedModes: ReadonlyArray<string>
  readonly capabilities: RuntimeCapabilities
}

export interface RuntimeManifest {
  readonly agentId: string
  readonly title?: string
  readonly description?: string
  readonly supportedModes: ReadonlyArray<string>
  readonly metadata: Readonly<Record<string, string>>
}

export interface RuntimeMode {
  readonly mode: string
  readonly modeVersion: string
  readonly title?: string
  readonly description?: string
  readonly determinismClass?: string
  readonly participantModel?: string
  readonly messageTypes: ReadonlyArray<string>
  readonly terminalMessageTypes: ReadonlyArray<string>
  readonly schemaUris: Readonly<Record<string, string>>
}

export interface RuntimeRoot {
  readonly uri: string
  readonly name?: string
}

/** A policy as registered. `rules` is the text of a JSON object, exactly as sent. */
export interface RuntimePolicy {
  readonly policyId: string
  /** Mode id, or `*` for every mode. */
  readonly mode: string
  readonly description: string
  readonly rules: string
  readonly schemaVersion: number
  /** Unix milliseconds; absent where the runtime does not say. */
  readonly registeredAtUnixMs?: number
}

/** Answer to a change of the policy registry; a refusal is an answer, not a failure. */
export interface PolicyChange {
  readonly ok: boolean
  readonly error: string
}

export const identityFromWire = (response: InitializeResponse): RuntimeIdentity => {
  const { capabilities, runtimeInfo } = response
  return {
    protocolVersion: response.selectedProtocolVersion,
    name: runtimeInfo?.name ?? "",
    version: runtimeInfo?.version ?? "",
    ...given("title", runtimeInfo?.title),
    ...given("description", runtimeInfo?.description),
    ...given("websiteUrl", runtimeInfo?.websiteUrl),
    ...given("instructions", response.instructions),
    supportedModes: response.supportedModes,
    capabilities: {
      sessions: {
        stream: capabilities?.sessions?.stream ?? false,
        listSessions: capabilities?.sessions?.listSessions ?? false,
        watchSessions: capabilities?.sessions?.watchSessions ?? false
      },
      cancellation: { cancelSession: capabilities?.cancellation?.cancelSession ?? false },
      progress: { progress: capabilities?.progress?.progress ?? false },
      manifest: { getManifest: capabilities?.manifest?.getManifest ?? false },
      modeRegistry: {
        listModes: capabilities?.modeRegistry?.listModes ?? false,
        listChanged: capabilities?.modeRegistry?.listChanged ?? false
      },
      roots: {
        listRoots: capabilities?.roots?.listRoots ?? false,
        listChanged: capabilities?.roots?.listChanged ?? false
      },
      policyRegistry: {
        registerPolicy: capabilities?.policyRegistry?.registerPolicy ?? false,
        listPolicies: capabilities?.policyRegistry?.listPolicies ?? false,
        listChanged: capabilities?.policyRegistry?.listChanged ?? false
      },
      decisionReceipt: {
        getDecisionReceipt: capabilities?.decisionReceipt?.getDecisionReceipt ?? false,
        signed: capabilities?.decisionReceipt?.signed ?? false
      },
      experimental: capabilities?.experimental?.features ?? {}
    }
  }
}

export const manifestFromWire = (manifest: AgentManifest): RuntimeManifest => ({
  agentId: manifest.agentId,
  ...given("title", manifest.title),
  ...given("description", manifest.description),
  supportedModes: manifest.supportedModes,
  metadata: manifest.metadata
})

export const modeFromWire = (mode: ModeDescriptor): RuntimeMode => ({
  mode: mode.mode,
  modeVersion: mode.modeVersion,
  ...given("title", mode.title),
  ...given("description", mode.description),
  ...given("determinismClass", mode.determinismClass),
  ...given("participantModel", mode.participantModel),
  messageTypes: mode.messageTypes,
  terminalMessageTypes: mode.terminalMessageTypes,
  schemaUris: mode.schemaUris
})

export const rootFromWire = (root: Root): RuntimeRoot => ({ uri: root.uri, ...given("name", root.name) })

export const policyFromWire = (policy: PolicyDescriptor): RuntimePolicy => ({
  policyId: policy.policyId,
  mode: policy.mode,
  description: policy.description,
  rules: policy.rules,
  schemaVersion: policy.schemaVersion,
  ...(policy.registeredAtUnixMs === 0n ? {} : { registeredAtUnixMs: Number(policy.registeredAtUnixMs) })
})

const given = <K extends string>(key: K, text: string | undefined): { readonly [_ in K]?: string } => {
  const value: { [_ in K]?: string } = {}
  if (text !== undefined && text !== "") value[key] = text
  return value
}
