import { create, fromBinary } from "@bufbuild/protobuf"
import { DEFAULT_POLICY_ID, type RawEnvelope, type RuntimeSessionState } from "@runplane/domain"
import {
  type Envelope,
  EnvelopeSchema,
  type ParticipantCalls,
  type RuntimeError,
  SessionStartPayloadSchema
} from "@runplane/runtime"
import type { ShadowRuntime, ShadowUnable } from "@runplane/sandbox"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"

/** How often a session is looked for that is not open yet, and read again after a broken stream. Milliseconds. */
const RETRY_MS = 500
/** How often the state of the session is read: not all of its changes are on its stream. Milliseconds. */
const STATE_POLL_MS = 2_000

/** The credential that reads the session is missing: the read is repeated. */
class NoCredential extends Data.TaggedError("NoCredential")<{ readonly message: string }> {}

/** The stream of the session carries an error. */
class StreamRefused extends Data.TaggedError("StreamRefused")<{ readonly message: string }> {}

export interface RelayedSession {
  readonly sessionId: string
  /** The runtime with the credential of an observer, which is minted again for each stream. */
  readonly calls: Effect.Effect<ParticipantCalls, { readonly message: string }>
  readonly to: ShadowRuntime
}

/**
 * Repeats an observed session to the runtime of a shadow, until the session has ended. It sends nothing. Fails when the
 * session cannot be shown to a shadow, or its history is gone.
 */
export const relaySession = Effect.fn("SessionRelay.relay")(function* ({ calls, sessionId, to }: RelayedSession) {
  const ended = yield* Deferred.make<void>()
  const observer = Effect.mapError(calls, ({ message }) => new NoCredential({ message }))
  let seen = 0

  const show = Effect.fnUntraced(function* (from: ParticipantCalls, envelope: RawEnvelope) {
    const message = wireOf(envelope)
    if (seen === 0) yield* to.open(message, yield* policyOf(from, message.payload))
    else yield* to.relay(message)
    // Counted when it has been shown: a broken stream goes on with the next one.
    seen += 1
    if (message.messageType === "Commitment") yield* Deferred.succeed(ended, undefined)
  })

  const read = Effect.gen(function* () {
    const from = yield* observer
    yield* from.streamSession({ sessionId, afterSequence: seen }).pipe(
      Stream.runForEach((frame): Effect.Effect<void, RuntimeError | ShadowUnable | StreamRefused> => {
        if (frame._tag === "Envelope") return show(from, frame.envelope)
        return Effect.fail(new StreamRefused({ message: `${frame.error.code}: ${frame.error.message}` }))
      })
    )
  })

  const reading = Effect.gen(function* () {
    while (true) {
      const end = yield* Effect.result(read)
      if (Result.isFailure(end) && isFinal(end.failure, seen)) return yield* end.failure
      yield* Effect.sleep(RETRY_MS)
    }
  })

  const states = Effect.gen(function* () {
    let last: RuntimeSessionState = "OPEN"
    while (true) {
      yield* Effect.sleep(STATE_POLL_MS)
      if (seen === 0) continue
      const found = yield* Effect.result(Effect.flatMap(observer, (from) => from.getSession(sessionId)))
      if (Result.isFailure(found)) continue
      const { state } = found.success
      if (state === last) continue
      if (state === "SUSPENDED") yield* to.change("SUSPENDED")
      if (state === "OPEN") yield* to.change("RESUMED")
      if (state === "CANCELLED" || state === "EXPIRED") {
        yield* to.change(state)
        return
      }
      last = state
    }
  })

  yield* Effect.raceFirst(Deferred.await(ended), Effect.raceFirst(reading, states))
})

/** Whether no later attempt can succeed. A session that is not open yet is looked for again. */
const isFinal = (failure: NoCredential | RuntimeError | ShadowUnable | StreamRefused, seen: number): boolean => {
  switch (failure._tag) {
    case "NoCredential":
      return false
    case "RuntimeError":
      return FINAL.has(failure.reason) || (failure.reason === "NOT_FOUND" && seen > 0)
    default:
      return true
  }
}

/** The runtime refuses to show the session, or has dropped its history. */
const FINAL: ReadonlySet<string> = new Set(["PERMISSION_DENIED", "FAILED_PRECONDITION"])

const policyOf = Effect.fnUntraced(function* (from: ParticipantCalls, payload: Uint8Array) {
  const { policyVersion } = fromBinary(SessionStartPayloadSchema, payload)
  return policyVersion === "" || policyVersion === DEFAULT_POLICY_ID ? undefined : yield* from.getPolicy(policyVersion)
})

const wireOf = ({ timestampUnixMs, payload, senderAuthenticated: _, ...envelope }: RawEnvelope): Envelope =>
  create(EnvelopeSchema, {
    ...envelope,
    payload: Uint8Array.from(payload),
    timestampUnixMs: BigInt(timestampUnixMs)
  })
