import {
  badRequest,
  ControlPlaneApi,
  controlPlaneError,
  type MethodNotAllowed,
  type PolicyDescriptor,
  type PolicyRegistered,
  type RuntimeFailure
} from "@runplane/api"
import { DEFAULT_POLICY_ID, highestSchemaVersion, parseJsonObject, policyRuleFaults } from "@runplane/domain"
import { RuntimeClient, type RuntimeError, type RuntimePolicy } from "@runplane/runtime"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import { AuditTrail, type Caller } from "../../platform/audit/AuditTrail.ts"
import { currentCaller } from "../../platform/http/CurrentCaller.ts"
import { answerOfRuntimeError } from "../../platform/http/RuntimeRefusal.ts"
import { isoNow } from "../../platform/IsoNow.ts"

/** A registration that has passed the field rules. */
export interface PolicyRegistration {
  readonly policyId: string
  readonly mode: string
  readonly description: string
  readonly rules: Schema.JsonObject
  readonly schemaVersion: number
}

const INVALID_DEFINITION = "INVALID_POLICY_DEFINITION"

/** Governance policies: checked here, kept by the runtime (docs/reference/admin.md#policy-registration). */
export class Policies extends Context.Service<
  Policies,
  {
    readonly register: (
      policy: PolicyRegistration,
      caller: Caller
    ) => Effect.Effect<PolicyRegistered, RuntimeFailure | MethodNotAllowed>
    readonly list: (mode: string) => Effect.Effect<ReadonlyArray<PolicyDescriptor>, RuntimeFailure>
    readonly get: (policyId: string) => Effect.Effect<PolicyDescriptor, RuntimeFailure>
    readonly unregister: (policyId: string, caller: Caller) => Effect.Effect<void, RuntimeFailure | MethodNotAllowed>
  }
>()("runplane/control-plane/Policies") {
  static readonly layer = Layer.effect(
    Policies,
    Effect.gen(function* () {
      const audit = yield* AuditTrail
      const runtime = yield* RuntimeClient

      /** The registry belongs to the runtime: a failed audit entry does not undo the change. */
      const record = Effect.fnUntraced(function* (
        action: string,
        policyId: string,
        caller: Caller,
        answer: { readonly ok: boolean; readonly error: string }
      ) {
        const at = yield* isoNow
        const outcome = answer.ok ? "succeeded" : "refused"
        const details = answer.ok ? {} : { error: answer.error }
        yield* audit.recordDone({ caller, action, resource: "policy", resourceId: policyId, outcome, details, at })
      })

      /** A runtime accepts a policy of a version that it cannot evaluate, and then refuses every commitment. */
      const checkVersion = Effect.fnUntraced(function* ({ policyId, schemaVersion }: PolicyRegistration) {
        const found = yield* Effect.option(runtime.initialize)
        const highest = Option.getOrUndefined(Option.map(found, highestSchemaVersion))
        if (Option.isNone(found) || highest === undefined || schemaVersion <= highest) return
        const { name, version } = found.value
        return yield* controlPlaneError(
          INVALID_DEFINITION,
          `${name} ${version} does not evaluate policies of schema version ${schemaVersion}: it would refuse every ` +
            `commitment under ${policyId}; register it with schemaVersion ${highest}, or use a runtime from 0.7.6 on`,
          { schemaVersion, highestSchemaVersion: highest }
        )
      })

      const register = Effect.fn("Policies.register")(function* (policy: PolicyRegistration, caller: Caller) {
        if (policy.policyId === DEFAULT_POLICY_ID) return yield* badRequest(`${DEFAULT_POLICY_ID} is reserved`)
        const faults = policyRuleFaults(policy.mode, policy.rules)
        if (faults.length > 0) {
          return yield* controlPlaneError(INVALID_DEFINITION, faults.join("; "), { faults: [...faults] })
        }
        if (policy.schemaVersion > 2) yield* checkVersion(policy)
        const answer = yield* runtime.registerPolicy({ ...policy, rules: JSON.stringify(policy.rules) }).pipe(
          Effect.mapError(answerOfRegistry),
          // What the runtime has done is recorded, whether or not the caller still waits for the answer.
          Effect.tap((answer) => record("policy.register", policy.policyId, caller, answer)),
          Effect.uninterruptible
        )
        if (!answer.ok && answer.error.startsWith(INVALID_DEFINITION)) {
          return yield* controlPlaneError(INVALID_DEFINITION, answer.error)
        }
        if (!answer.ok) return { ok: false, error: answer.error }
        return { ok: true }
      })

      const list = Effect.fn("Policies.list")((mode: string) =>
        runtime
          .listPolicies(mode)
          .pipe(
            Effect.mapBoth({ onFailure: answerOfRuntimeError, onSuccess: (policies) => policies.map(toDescriptor) })
          )
      )
      const get = Effect.fn("Policies.get")((policyId: string) =>
        runtime.getPolicy(policyId).pipe(Effect.mapBoth({ onFailure: answerOfRuntimeError, onSuccess: toDescriptor }))
      )
      const unregister = Effect.fn("Policies.unregister")(function* (policyId: string, caller: Caller) {
        const answer = yield* runtime.unregisterPolicy(policyId).pipe(
          Effect.mapError(answerOfRegistry),
          Effect.tap((answer) => record("policy.delete", policyId, caller, answer)),
          Effect.uninterruptible
        )
        if (!answer.ok) {
          const code = /not found|unknown|not registered/i.test(answer.error) ? "NOT_FOUND" : "CONFLICT"
          return yield* controlPlaneError(code, answer.error)
        }
      })
      return Policies.of({ register, list, get, unregister })
    })
  )
}

/** A registry loaded from files refuses every change with FAILED_PRECONDITION. */
const answerOfRegistry = (error: RuntimeError): RuntimeFailure | MethodNotAllowed =>
  error.reason === "FAILED_PRECONDITION" && /read.?only|file/i.test(error.message)
    ? controlPlaneError("REGISTRY_READ_ONLY", error.message)
    : answerOfRuntimeError(error)

const toDescriptor = (policy: RuntimePolicy): PolicyDescriptor => ({
  policyId: policy.policyId,
  mode: policy.mode,
  description: policy.description,
  // Text that is not a JSON object means no rules, as it does to the runtime.
  rules: parseJsonObject(policy.rules) ?? {},
  schemaVersion: policy.schemaVersion,
  ...(policy.registeredAtUnixMs !== undefined && { registeredAtUnixMs: policy.registeredAtUnixMs })
})

/** The policy endpoints (docs/reference/admin.md#policy-registration). */
export const PoliciesHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "policies",
  Effect.fnUntraced(function* (handlers) {
    const policies = yield* Policies
    return handlers.handleAll({
      register: ({ payload }) => Effect.flatMap(currentCaller, (caller) => policies.register(payload, caller)),
      list: ({ query }) => policies.list(query.mode ?? ""),
      get: ({ params }) => policies.get(params.policyId),
      unregister: ({ params }) =>
        Effect.flatMap(currentCaller, (caller) => policies.unregister(params.policyId, caller)).pipe(
          Effect.as({ ok: true as const })
        )
    })
  })
)
