import {
  ControlPlaneClient,
  type LauncherFault,
  type PolicyDescriptor,
  type PolicyRegistration as PolicyRegistrationBody
} from "@runplane/api"
import { DEFAULT_POLICY_ID, type PolicyFile } from "@runplane/domain"
import { jitteredBackoff } from "@runplane/runtime"
import { forever } from "@runplane/server"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type { HttpClient } from "effect/http"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { type ReadPolicy, readPolicyFiles } from "../catalog/PolicyFiles.ts"
import { isJsonObject, type Json } from "../common/Json.ts"
import { invalidConfig, oneLine } from "../common/LaunchErrors.ts"
import { type ControlPlaneSettings, LauncherSettings } from "../LauncherSettings.ts"

/** Longest pause between two attempts, ms: a control plane that starts later gets its policies soon. */
const MAX_PAUSE_MS = 10_000
const FIRST_PAUSE_MS = 250

/** The state of a policy of the packs at the runtime. */
export type PolicyOutcome =
  | { readonly policy: string; readonly state: "registered" }
  /** Final: the file is broken, or the runtime rejects the policy. */
  | { readonly policy: string; readonly state: "refused"; readonly reason: string }
  /** Retried; the reason is that of the last attempt, empty before the first. */
  | { readonly policy: string; readonly state: "pending"; readonly reason: string }

/**
 * Registers the policies of the packs when the service starts, through the control plane's `POST /runtime/policies`. A
 * policy that exists already counts as registered. It works in the background and fails no request; until it is done,
 * the runtime refuses launches that name one of the policies.
 */
export class PolicyRegistration extends Context.Service<
  PolicyRegistration,
  {
    /** One entry for each policy file. Empty without a control plane, or when registration is switched off. */
    readonly outcomes: Effect.Effect<ReadonlyArray<PolicyOutcome>>
    /**
     * Makes sure that the runtime has the policy of a launch: registers a missing one from its file
     * (docs/internals/launch.md#policies). Succeeds without a control plane, and when it gives no answer.
     */
    readonly ensure: (policyId: string | undefined) => Effect.Effect<void, LauncherFault>
    /** The same once no policy is pending. Waits for as long as the control plane does not answer. */
    readonly settled: Effect.Effect<ReadonlyArray<PolicyOutcome>>
  }
>()("runplane/launcher/PolicyRegistration") {
  static readonly layer: Layer.Layer<
    PolicyRegistration,
    never,
    LauncherSettings | FileSystem.FileSystem | Path.Path | HttpClient.HttpClient
  > = Layer.effect(
    PolicyRegistration,
    Effect.gen(function* () {
      const { controlPlane, registerPolicies, policiesDir } = yield* LauncherSettings
      const none = Effect.succeed([])
      if (controlPlane === undefined) {
        return PolicyRegistration.of({ outcomes: none, settled: none, ensure: () => Effect.void })
      }
      const client = yield* Layer.build(clientOf(controlPlane))
      if (!registerPolicies) {
        const ensure = ensureWith(client, controlPlane, none)
        return PolicyRegistration.of({ outcomes: none, settled: none, ensure })
      }
      const context = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
      const files = yield* readPolicyFiles(policiesDir)
      const policies = files
        .flatMap(({ policy }) => (Result.isSuccess(policy) ? [policy.success] : []))
        .filter(({ policy_id: id }) => id !== DEFAULT_POLICY_ID)
        .map(registrationOf)
      const states = new Map<string, PolicyOutcome>()
      const note = (outcome: PolicyOutcome) => Effect.sync(() => void states.set(outcome.policy, outcome))
      const outcomes = Effect.sync(() => [...states.values()])
      for (const { file, policy } of files) {
        if (Result.isSuccess(policy)) continue
        yield* Effect.logWarning(`policy file ${file} left out: ${policy.failure}`)
        yield* note(refused(file, policy.failure))
      }
      for (const { policyId } of policies) yield* note({ policy: policyId, state: "pending", reason: "" })
      const done = yield* Deferred.make<void>()
      const once = registerAll(policies, controlPlane, note).pipe(
        Effect.andThen(Deferred.succeed(done, undefined)),
        Effect.as({ pauseMs: Number.POSITIVE_INFINITY }),
        Effect.provideContext(client)
      )
      // A control plane that is away is not a fault of the loop.
      yield* Effect.forkScoped(forever("policy-registration", once, { limitMs: Number.POSITIVE_INFINITY }))
      return PolicyRegistration.of({
        outcomes,
        settled: Effect.andThen(Deferred.await(done), outcomes),
        ensure: ensureWith(client, controlPlane, Effect.provideContext(readPolicyFiles(policiesDir), context))
      })
    })
  )
}

/** A policy in the words of `POST /runtime/policies`. */
type Registration = typeof PolicyRegistrationBody.Type

/** Every policy is registered except the default one, which the runtime has and which cannot be replaced. */
const registrationOf = (file: typeof PolicyFile.Type): Registration => ({
  policyId: file.policy_id,
  mode: file.mode,
  description: file.description ?? "",
  rules: file.rules,
  schemaVersion: file.schema_version
})

const clientOf = ({ url, apiKey }: ControlPlaneSettings) =>
  ControlPlaneClient.layer({ baseUrl: url, ...(apiKey === undefined ? {} : { apiKey }) })

/** Whether the runtime has the policy of a launch. Its file is read again: it may have changed since the start. */
const ensureWith = (
  client: Context.Context<ControlPlaneClient>,
  { timeoutMs }: ControlPlaneSettings,
  files: Effect.Effect<ReadonlyArray<ReadPolicy>>
) =>
  Effect.fn("PolicyRegistration.ensure")(function* (policyId: string | undefined) {
    if (policyId === undefined || policyId === DEFAULT_POLICY_ID) return
    const { api } = yield* ControlPlaneClient
    const isThere = yield* api.policies.get({ params: { policyId } }).pipe(
      Effect.as(true),
      Effect.catchTag("NotFound", () => Effect.succeed(false)),
      Effect.timeout(timeoutMs),
      Effect.catch((failure) => logUnknown(policyId, failure))
    )
    if (isThere) return
    const file = (yield* files)
      .flatMap(({ policy }) => (Result.isSuccess(policy) ? [policy.success] : []))
      .find(({ policy_id: id }) => id === policyId)
    if (file === undefined) return yield* policyMissing(policyId, "the packs have no file of it to register")
    const outcome = yield* registerOne(registrationOf(file)).pipe(
      Effect.timeout(timeoutMs),
      Effect.catch((failure) => Effect.as(logUnknown(policyId, failure), registered(policyId)))
    )
    if (outcome.state === "refused") return yield* policyMissing(policyId, outcome.reason)
    yield* Effect.logInfo(`policy ${policyId} was not registered any more: it is again`)
  }, Effect.provideContext(client))

/** A control plane in trouble fails no launch. */
const logUnknown = (policyId: string, failure: { readonly message: unknown }) =>
  Effect.as(Effect.logWarning(`whether policy ${policyId} is registered is unknown: ${oneLine(failure)}`), true)

const policyMissing = (policyId: string, reason: string) =>
  invalidConfig(
    `policy ${policyId} is not registered at the runtime (${reason}): ` +
      "register it by POST /runtime/policies of the control plane, or name another policyVersion"
  )

/** One policy after the other, each until it is registered or refused. */
const registerAll = Effect.fn("PolicyRegistration.registerAll")(function* (
  policies: ReadonlyArray<Registration>,
  { timeoutMs, url }: ControlPlaneSettings,
  note: (outcome: PolicyOutcome) => Effect.Effect<void>
) {
  let lastLine = ""
  /** One line for each reason, however often the attempts fail. */
  const warnOnce = (policy: string, reason: string) =>
    Effect.suspend(() => {
      const line = `the policies of the packs are not registered at ${url} yet, trying again: ${reason}`
      const log = lastLine === line ? Effect.logDebug(line) : Effect.logWarning(line)
      lastLine = line
      return Effect.andThen(note({ policy, state: "pending", reason }), log)
    })

  for (const policy of policies) {
    const outcome = yield* registerOne(policy).pipe(
      Effect.timeout(timeoutMs),
      Effect.tapError((error) => warnOnce(policy.policyId, oneLine(error))),
      Effect.retry(jitteredBackoff(FIRST_PAUSE_MS, MAX_PAUSE_MS)),
      // The schedule never ends.
      Effect.orDie
    )
    yield* note(outcome)
    yield* outcome.state === "refused"
      ? Effect.logWarning(`policy ${outcome.policy} of the packs was refused: ${outcome.reason}`)
      : Effect.logInfo(`policy ${outcome.policy} is registered`)
  }
})

/** One attempt. Its failures may pass; a decision of the runtime is an outcome. */
const registerOne = Effect.fnUntraced(function* (policy: Registration) {
  const { api } = yield* ControlPlaneClient
  const refusal = yield* api.policies.register({ payload: policy }).pipe(
    Effect.map((answer) => (answer.ok ? undefined : { message: answer.error ?? "" })),
    Effect.catchTag(["BadRequest", "Conflict", "Forbidden", "MethodNotAllowed", "NotImplemented"], (error) =>
      Effect.succeed({ message: error.message, isReadOnly: error._tag === "MethodNotAllowed" })
    )
  )
  const { policyId } = policy
  if (refusal === undefined) return registered(policyId)
  const isThere = /already/i.test(refusal.message)
  const isReadOnly = "isReadOnly" in refusal && refusal.isReadOnly
  if (!isThere && !isReadOnly) return refused(policyId, oneLine(refusal))
  const existing = yield* api.policies
    .get({ params: { policyId } })
    .pipe(Effect.catchTag("NotFound", () => Effect.succeed(undefined)))
  if (existing === undefined) return refused(policyId, oneLine(refusal))
  if (!isSame(existing, policy)) {
    yield* Effect.logWarning(
      `policy ${policyId} is registered with other rules than its file has; to replace it: DELETE /runtime/policies/${policyId}, then start again`
    )
  }
  return registered(policyId)
})

const registered = (policy: string): PolicyOutcome => ({ policy, state: "registered" })
const refused = (policy: string, reason: string): PolicyOutcome => ({ policy, state: "refused", reason })

const isSame = (existing: PolicyDescriptor, policy: Registration) =>
  existing.mode === policy.mode &&
  existing.schemaVersion === policy.schemaVersion &&
  canonical(existing.rules) === canonical(policy.rules)

/** JSON text with sorted keys. */
const canonical = (value: Schema.Json): string =>
  JSON.stringify(value, (_key, item: Json) => (isJsonObject(item) ? sorted(item) : item))

const sorted = (value: { readonly [key: string]: Json }) =>
  Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
