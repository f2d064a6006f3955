import { ControlPlaneClient } from "@runplane/api"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { compareTexts } from "./catalog/VersionOrder.ts"
import { type ControlPlaneSettings, LauncherSettings } from "./LauncherSettings.ts"
import { oneLine } from "./RunSubmission.ts"

/** The policy that every runtime has by itself. */
const DEFAULT_POLICY = "policy.default"

/** Longest pause between two attempts, ms: a control plane that comes up later gets its policies soon after. */
const MAX_PAUSE_MS = 10_000
const FIRST_PAUSE_MS = 250

/** A policy file (launch-details section 8); the control plane's own names differ. */
const PolicyFile = Schema.Struct({
  policy_id: Schema.NonEmptyString,
  mode: Schema.NonEmptyString,
  schema_version: Schema.Literals([1, 2, 3]),
  description: Schema.optionalKey(Schema.String),
  rules: Schema.JsonObject
})
type PolicyFile = typeof PolicyFile.Type

/**
 * Registers the policies of the packs once the service starts, through the control plane's `POST /runtime/policies`. A policy
 * that is registered already counts as success. It works in the background and never fails a request: until it is through,
 * launches that name one of the policies are refused by the runtime.
 */
export const policyRegistration = Layer.effectDiscard(
  Effect.gen(function* () {
    const { controlPlane, registerPolicies, policiesDir } = yield* LauncherSettings
    if (controlPlane === undefined || !registerPolicies) return
    const policies = yield* readPolicies(policiesDir)
    if (policies.length === 0) return
    yield* Effect.forkScoped(registerAll(policies).pipe(Effect.provide(clientOf(controlPlane))))
  })
)

const clientOf = ({ url, apiKey }: ControlPlaneSettings) =>
  ControlPlaneClient.layer({ baseUrl: url, ...(apiKey === undefined ? {} : { apiKey }) })

/** A broken file is left out with a warning: it concerns only the launches that name its policy. */
const readPolicies = Effect.fn("PolicyRegistration.read")(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const exists = yield* Effect.orElseSucceed(fs.exists(directory), () => false)
  const names = exists ? yield* Effect.orElseSucceed(fs.readDirectory(directory), () => []) : []
  const read = yield* Effect.forEach(names.filter((name) => name.endsWith(".json")).toSorted(compareTexts), (name) =>
    fs.readFileString(path.join(directory, name)).pipe(
      Effect.flatMap(Schema.decodeUnknownEffect(Schema.fromJsonString(PolicyFile))),
      Effect.map((policy) => [policy]),
      Effect.catch((error) => Effect.as(Effect.logWarning(`policy file ${name} left out: ${oneLine(error)}`), []))
    )
  )
  return read.flat().filter((policy) => policy.policy_id !== DEFAULT_POLICY)
})

const registerAll = Effect.fn("PolicyRegistration.registerAll")(function* (policies: ReadonlyArray<PolicyFile>) {
  const client = yield* ControlPlaneClient
  yield* Effect.forEach(
    policies,
    (policy) =>
      client.api.policies.register({ payload: payloadOf(policy) }).pipe(
        Effect.tap((answer) =>
          answer.ok || isAlreadyThere(answer.error ?? "")
            ? Effect.logInfo(`policy ${policy.policy_id} is registered`)
            : Effect.logWarning(`policy ${policy.policy_id} was refused: ${oneLine({ message: answer.error ?? "" })}`)
        ),
        Effect.catchTag(["BadRequest", "Conflict", "MethodNotAllowed", "NotImplemented"], (refusal) =>
          isAlreadyThere(refusal.message)
            ? Effect.logInfo(`policy ${policy.policy_id} is registered`)
            : Effect.logWarning(`policy ${policy.policy_id} was refused: ${oneLine(refusal)}`)
        ),
        Effect.tapError((error) =>
          Effect.logInfo(`policy ${policy.policy_id} is not registered yet, trying again: ${oneLine(error)}`)
        ),
        Effect.retry(patience)
      ),
    { discard: true }
  )
})

const patience = Schedule.min([
  Schedule.exponential(`${FIRST_PAUSE_MS} millis`, 2),
  Schedule.spaced(`${MAX_PAUSE_MS} millis`)
]).pipe(Schedule.jittered)

const isAlreadyThere = (text: string) => /already/i.test(text)

const payloadOf = (policy: PolicyFile) => ({
  policyId: policy.policy_id,
  mode: policy.mode,
  description: policy.description ?? "",
  rules: policy.rules,
  schemaVersion: policy.schema_version
})
