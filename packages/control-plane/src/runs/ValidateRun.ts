import { INVALID_SESSION_ID_TEXT, type RunValidation } from "@runplane/api"
import { isSessionId, type RunDescriptor } from "@runplane/domain"
import { RuntimeClient } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import { CancelCallback } from "./CancelCallback.ts"

/** A preflight check does not wait longer for the runtime, whatever the deadline of its calls. Milliseconds. */
export const VALIDATION_RUNTIME_TIMEOUT_MS = 5_000

/**
 * Checks a descriptor that has passed the field rules, against the session id forms and the runtime's modes. Nothing is
 * written; a runtime that cannot be reached is a warning (docs/reference/runs.md#validate).
 */
export const makeValidateRun = Effect.gen(function* () {
  const callbacks = yield* CancelCallback
  const runtime = yield* RuntimeClient

  const greet = runtime.initialize.pipe(
    Effect.mapError((error) => error.message),
    Effect.timeoutOrElse({
      duration: VALIDATION_RUNTIME_TIMEOUT_MS,
      orElse: () => Effect.fail(`no answer within ${VALIDATION_RUNTIME_TIMEOUT_MS} ms`)
    })
  )

  return Effect.fn("Runs.validate")(function* (descriptor: RunDescriptor) {
    const { runtime: wanted, session } = descriptor
    const errors: Array<string> = []
    if (session.sessionId !== undefined && !isSessionId(session.sessionId)) errors.push(INVALID_SESSION_ID_TEXT)
    const refusal = callbacks.refusal(session.metadata ?? {})
    if (refusal !== undefined) errors.push(refusal)

    const greeting = yield* Effect.result(
      wanted.kind === runtime.kind ? greet : Effect.fail(`unknown runtime kind: ${wanted.kind}`)
    )
    if (greeting._tag === "Failure") {
      const unreachable: RunValidation = {
        valid: errors.length === 0,
        errors,
        warnings: [`Runtime not reachable: ${greeting.failure}`],
        runtime: { reachable: false, supportedModes: [] }
      }
      return unreachable
    }
    const { capabilities, supportedModes } = greeting.success
    if (supportedModes.length > 0 && !supportedModes.includes(session.modeName)) {
      errors.push(`Runtime does not support mode '${session.modeName}'. Supported: ${supportedModes.join(", ")}`)
    }
    const answer: RunValidation = {
      valid: errors.length === 0,
      errors,
      warnings: [],
      runtime: { reachable: true, supportedModes, capabilities: { ...capabilities } }
    }
    return answer
  })
})
