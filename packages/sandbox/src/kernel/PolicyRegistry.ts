import { create } from "@bufbuild/protobuf"
import {
  ANY_MODE,
  DEFAULT_POLICY,
  isReleaseFrom,
  type Policy,
  policyFitsMode,
  type Release,
  readPolicy
} from "@runplane/domain"
import { type PolicyDescriptor, PolicyDescriptorSchema } from "@runplane/runtime"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { findMode } from "../core/Modes.ts"
import { Hub } from "./Mailbox.ts"

/**
 * A registration or removal is refused; the text travels in the answer, never as a gRPC status
 * (docs/internals/runtime.md#policy-registry).
 */
export class PolicyRefused extends Data.TaggedError("PolicyRefused")<{ readonly message: string }> {}

/**
 * Undelivered policy sets of one WatchPolicies; a receiver over it ends silently
 * (docs/internals/runtime.md#watch-streams).
 */
const WATCH_CAPACITY = 16

const RESERVED_PREFIX = "policy.std."

/** The policies of the runtime, `policy.default` always among them (docs/internals/runtime.md#policy-registry). */
export class PolicyRegistry extends Context.Service<
  PolicyRegistry,
  {
    /** Checks the rules and adds the descriptor. */
    readonly register: (descriptor: PolicyDescriptor) => Effect.Effect<void, PolicyRefused>
    /** Sessions that bound the policy keep it. */
    readonly unregister: (policyId: string) => Effect.Effect<void, PolicyRefused>
    readonly find: (policyId: string) => PolicyDescriptor | undefined
    /** Sorted by id; a mode also lists the policies for every mode. */
    readonly list: (mode: string) => ReadonlyArray<PolicyDescriptor>
    /** The policy as a session binds it. */
    readonly resolve: (policyId: string) => Policy | undefined
    /** The whole set, again after every change. */
    readonly changes: (signal: AbortSignal) => AsyncGenerator<ReadonlyArray<PolicyDescriptor>>
  }
>()("runplane/sandbox/PolicyRegistry") {
  /** From 0.13.0 on rules are closed (docs/internals/runtime.md#annotations), and the reserved policies are there. */
  static readonly layer = (release: Release): Layer.Layer<PolicyRegistry> =>
    Layer.sync(PolicyRegistry, () => make(release))
}

/** The default policy as the reference runtime describes it. */
const DEFAULT_POLICY_DESCRIPTION =
  "Default policy — mode built-in rules apply with no additional governance constraints"
const DEFAULT_POLICY_RULES = {
  voting: { algorithm: "none", quorum: { type: "count", value: 0 } },
  objection_handling: { critical_severity_vetoes: false, veto_threshold: 1 },
  evaluation: { minimum_confidence: 0, required_before_voting: false },
  commitment: { authority: "initiator_only", designated_roles: [], require_vote_quorum: false }
}

const make = (release: Release): PolicyRegistry["Service"] => {
  const entries = new Map<string, { descriptor: PolicyDescriptor; resolved: Policy }>()
  entries.set(DEFAULT_POLICY.policyId, {
    descriptor: create(PolicyDescriptorSchema, {
      policyId: DEFAULT_POLICY.policyId,
      mode: ANY_MODE,
      description: DEFAULT_POLICY_DESCRIPTION,
      rules: JSON.stringify(DEFAULT_POLICY_RULES),
      schemaVersion: DEFAULT_POLICY.schemaVersion
    }),
    resolved: { ...DEFAULT_POLICY, mode: ANY_MODE }
  })
  if (isReleaseFrom(release, "0.13.0")) {
    for (const descriptor of reservedPolicies()) {
      entries.set(descriptor.policyId, { descriptor, resolved: Result.getOrThrow(readPolicy(descriptor, release)) })
    }
  }
  const hub = new Hub<ReadonlyArray<PolicyDescriptor>>(WATCH_CAPACITY, "end")

  const list = (mode: string) =>
    Array.from(entries.values(), ({ descriptor }) => descriptor)
      .filter((descriptor) => mode === "" || policyFitsMode(descriptor.mode, mode))
      .sort((one, other) => (one.policyId < other.policyId ? -1 : 1))

  const register = Effect.fn("PolicyRegistry.register")(function* (offered: PolicyDescriptor) {
    const problem = identityProblem(offered, entries)
    if (problem !== undefined) return yield* new PolicyRefused({ message: problem })
    const resolved = readPolicy(offered, release)
    if (Result.isFailure(resolved)) return yield* invalid(resolved.failure)
    const now = yield* Clock.currentTimeMillis
    const descriptor = create(PolicyDescriptorSchema, { ...offered, registeredAtUnixMs: BigInt(now) })
    entries.set(descriptor.policyId, { descriptor, resolved: resolved.success })
    hub.publish(list(""))
  })

  const unregister = Effect.fn("PolicyRegistry.unregister")(function* (policyId: string) {
    if (policyId === DEFAULT_POLICY.policyId || policyId.startsWith(RESERVED_PREFIX)) {
      return yield* new PolicyRefused({ message: `${policyId} is reserved and cannot be removed` })
    }
    if (!entries.delete(policyId)) return yield* new PolicyRefused({ message: `policy ${policyId} is not registered` })
    hub.publish(list(""))
  })

  return PolicyRegistry.of({
    register,
    unregister,
    find: (policyId) => entries.get(policyId)?.descriptor,
    list,
    resolve: (policyId) => entries.get(policyId)?.resolved,
    changes: (signal) => hub.subscribe(signal)
  })
}

/**
 * The policies of the reserved names (docs/internals/runtime.md#annotations): all for decisions, none without a
 * quorum.
 */
const reservedPolicies = (): ReadonlyArray<PolicyDescriptor> =>
  [
    { name: "majority", voters: 1, threshold: 0.5, description: "At least half of the votes approve" },
    { name: "supermajority", voters: 2, threshold: 2 / 3, description: "Two thirds of at least two votes approve" },
    { name: "unanimous", voters: 1, threshold: undefined, description: "Every participant approves" }
  ].map(({ description, name, threshold, voters }) =>
    create(PolicyDescriptorSchema, {
      policyId: `${RESERVED_PREFIX}${name}`,
      mode: "macp.mode.decision.v1",
      description,
      rules: JSON.stringify({
        voting: { algorithm: name, threshold, quorum: { type: "count", value: voters } },
        commitment: { require_vote_quorum: true }
      }),
      schemaVersion: 1
    })
  )

const invalid = (message: string) => new PolicyRefused({ message: `INVALID_POLICY_DEFINITION: ${message}` })

const identityProblem = (
  { mode, policyId }: PolicyDescriptor,
  entries: ReadonlyMap<string, unknown>
): string | undefined => {
  if (policyId.trim() === "") return "INVALID_POLICY_DEFINITION: policy_id must not be empty"
  if (policyId === DEFAULT_POLICY.policyId || policyId.startsWith(RESERVED_PREFIX)) return `${policyId} is reserved`
  if (entries.has(policyId)) return `policy ${policyId} is already registered`
  if (mode !== ANY_MODE && findMode(mode) === undefined && !mode.startsWith("macp.mode.")) {
    return `INVALID_POLICY_DEFINITION: unknown mode ${mode}`
  }
  return undefined
}
