import { controlPlaneError, runtimeFailure } from "@runplane/api"
import { type BoundPolicy, DEFAULT_POLICY, mayCommit, RELEASES, readPolicy } from "@runplane/domain"
import type { RuntimeClient, RuntimeError } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { answerOfRefusedAck, answerOfRuntimeError } from "../platform/http/RuntimeRefusal.ts"

/** How long the answer of a refused request waits for the names of permitted identities, milliseconds. */
const LOOKUP_TIMEOUT_MS = 2_000
/** Participants that an answer names; a session may have a thousand. */
const MOST_NAMED = 20

const UNKNOWN = "only the initiator of the session may, and those whom its policy lets commit"

/**
 * The answers for a session that the runtime does not let this service control
 * (docs/reference/runs.md#control-authority): a 403 names the identities that may. A failed lookup shortens the text.
 */
export const refusalOf = (runtime: RuntimeClient["Service"], sessionId: string) => {
  const withPermitted = (message: string) =>
    Effect.map(permittedText(runtime, sessionId), (permitted) => `${message}; ${permitted}`)
  return {
    ofError: (error: RuntimeError) =>
      error.reason === "PERMISSION_DENIED"
        ? Effect.flatMap(withPermitted(error.message), (message) =>
            Effect.fail(runtimeFailure("PERMISSION_DENIED", message))
          )
        : Effect.fail(answerOfRuntimeError(error)),
    ofAck: (...given: Parameters<typeof answerOfRefusedAck>) => {
      const answer = answerOfRefusedAck(...given)
      return answer.errorCode === "FORBIDDEN"
        ? Effect.flatMap(withPermitted(answer.message), (message) =>
            Effect.fail(controlPlaneError("FORBIDDEN", message))
          )
        : Effect.fail(answer)
    }
  }
}

const permittedText = (runtime: RuntimeClient["Service"], sessionId: string) =>
  Effect.gen(function* () {
    const { initiator, participants, policyVersion } = yield* runtime.getSession(sessionId)
    if (initiator === "") return UNKNOWN
    const policyId = policyVersion === "" ? DEFAULT_POLICY.policyId : policyVersion
    const policy = yield* policyOf(runtime, policyId)
    if (policy === undefined) return `its initiator ${initiator} may, and those whom ${policyId} lets commit`
    const terms = { initiator, participants, policy, release: RELEASES[0] }
    const named = new Set([...participants, ...policy.rules.commitment.designated_roles])
    const others = [...named].filter((name) => name !== initiator && mayCommit(name, terms))
    const first = others.slice(0, MOST_NAMED).join(", ")
    const more = others.length > MOST_NAMED ? ` and ${others.length - MOST_NAMED} more` : ""
    const subject = others.length === 0 ? "only its initiator" : "its initiator"
    const rest = others.length === 0 ? "" : `, and by ${policyId} ${first}${more}`
    return (
      `${subject} ${initiator} may${rest}; this service may, too, once the policy names its identity ` +
      "among commitment.designated_roles"
    )
  }).pipe(
    Effect.timeout(LOOKUP_TIMEOUT_MS),
    Effect.orElseSucceed(() => UNKNOWN)
  )

const policyOf = (runtime: RuntimeClient["Service"], policyId: string): Effect.Effect<BoundPolicy | undefined> =>
  policyId === DEFAULT_POLICY.policyId
    ? Effect.succeed(DEFAULT_POLICY)
    : runtime.getPolicy(policyId).pipe(
        Effect.map((policy) => RELEASES.map((release) => readPolicy(policy, release)).find(Result.isSuccess)?.success),
        Effect.orElseSucceed(() => undefined)
      )
