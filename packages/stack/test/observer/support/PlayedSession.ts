import { create, toBinary } from "@bufbuild/protobuf"
import { ControlPlaneClient } from "@runplane/api"
import { type Envelope, EnvelopeSchema, SessionStartPayloadSchema, SignalPayloadSchema } from "@runplane/runtime"
import { Sandbox, SandboxFaults } from "@runplane/sandbox"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { Initiator } from "./ObservedStack.ts"
import { type Ending, LEAD, PARTICIPANTS, type SessionScript } from "./SessionScript.ts"

/** Waits at most this long for a run, on machines that are busy with other things. */
export const PATIENCE = "2 minutes"

/** What the runtime has accepted of a session that was played. */
export interface PlayedSession {
  readonly sessionId: string
  readonly history: ReadonlyArray<Envelope>
  /** Message ids of the signals about the session. */
  readonly signals: ReadonlyArray<string>
  readonly ending: Ending
}

/** `POST /runs` for a session; the run has the session's id. */
export const postRun = Effect.fnUntraced(function* (sessionId: string, script: Pick<SessionScript, "mode" | "ttlMs">) {
  const { api } = yield* ControlPlaneClient
  yield* api.runs
    .create({
      payload: {
        mode: "live",
        runtime: { kind: "rust" },
        session: {
          sessionId,
          modeName: script.mode,
          modeVersion: "1.0.0",
          configurationVersion: "config.default",
          ttlMs: script.ttlMs,
          participants: PARTICIPANTS.map((id) => ({ id }))
        }
      }
    })
    .pipe(Effect.timeout(PATIENCE), Effect.orDie)
})

/** Waits until an event of the run satisfies the condition; answers whether one did before the run ended. */
export const awaitEvent = Effect.fnUntraced(function* (
  runId: string,
  type: string,
  condition: (data: Readonly<Record<string, unknown>>) => boolean = () => true
) {
  const { streamRun } = yield* ControlPlaneClient
  return yield* streamRun(runId, { afterSeq: 0 }).pipe(
    Stream.filter(
      (frame) => frame.event === "canonical_event" && frame.data.type === type && condition(frame.data.data)
    ),
    Stream.runHead,
    Effect.map(Option.isSome),
    Effect.timeout(PATIENCE),
    Effect.orDie
  )
})

/** Waits until the run has ended. */
export const awaitEnd = Effect.fnUntraced(function* (runId: string) {
  const { streamRun } = yield* ControlPlaneClient
  yield* streamRun(runId).pipe(Stream.runDrain, Effect.timeout(PATIENCE), Effect.orDie)
})

export const envelopeOf = (
  sessionId: string,
  mode: string,
  messageId: string,
  message: { readonly messageType: string; readonly payload: Uint8Array<ArrayBuffer> }
): Envelope =>
  create(EnvelopeSchema, { macpVersion: "1.0", mode, sessionId, messageId, timestampUnixMs: 0n, ...message })

export const startPayload = (ttlMs: number): Uint8Array<ArrayBuffer> =>
  toBinary(
    SessionStartPayloadSchema,
    create(SessionStartPayloadSchema, {
      intent: "as the script says",
      participants: [...PARTICIPANTS],
      modeVersion: "1.0.0",
      configurationVersion: "config.default",
      ttlMs: BigInt(ttlMs)
    })
  )

const USAGE = new TextEncoder().encode(
  JSON.stringify({ model: "vendor1-4o", promptTokens: 1_000, completionTokens: 10 })
)

/** The use of tokens, which counts into the metrics of the run. */
const signalAbout = (sessionId: string, messageId: string): Envelope =>
  create(EnvelopeSchema, {
    macpVersion: "1.0",
    messageType: "Signal",
    messageId,
    payload: toBinary(
      SignalPayloadSchema,
      create(SignalPayloadSchema, { signalType: "llm.call.completed", correlationSessionId: sessionId, data: USAGE })
    )
  })

/**
 * Plays a script on the sandbox and answers what was accepted. A message that comes too late for a session that has
 * expired meanwhile is refused, which is as good.
 */
export const playSession = Effect.fnUntraced(function* (sessionId: string, script: SessionScript) {
  const sandbox = yield* Sandbox
  const faults = yield* SandboxFaults
  const initiator = yield* Initiator
  const accepted: Array<Envelope> = []
  const signals: Array<string> = []
  let hidden: ReadonlyArray<Envelope> = []

  const submit = Effect.fnUntraced(function* (
    sender: string,
    message: { readonly messageType: string; readonly payload: Uint8Array<ArrayBuffer> }
  ) {
    const envelope = envelopeOf(sessionId, script.mode, `m${accepted.length + 1}`, message)
    const { ok } = yield* sandbox.submit(envelope, sender)
    if (ok) accepted.push(envelope)
  })
  const control = { sessionId, reason: "as the script says" }
  // Where the connections of all clients are cut, the agents' are too.
  const insist = Effect.retry({ times: 10 })

  yield* submit(LEAD, { messageType: "SessionStart", payload: startPayload(script.ttlMs) })
  for (const step of script.steps) {
    switch (step.kind) {
      case "say":
        yield* submit(step.sender, step)
        break
      case "signal": {
        const signal = signalAbout(sessionId, `m${accepted.length + 1}`)
        yield* sandbox.submit(signal, step.sender)
        signals.push(signal.messageId)
        break
      }
      case "suspend":
        yield* insist(initiator.suspendSession(control))
        break
      case "resume":
        yield* insist(initiator.resumeSession(control))
        break
      case "pause":
        yield* Effect.sleep(step.ms)
        break
      case "seen":
        yield* awaitEvent(sessionId, step.type)
        break
      case "compact":
        hidden = [...hidden, ...(yield* sandbox.acceptedHistory(sessionId))]
        yield* faults.compactHistory(sessionId)
        break
    }
  }
  if (script.ending === "CANCELLED") yield* insist(initiator.cancelSession(control))
  const held = [...hidden, ...(yield* sandbox.acceptedHistory(sessionId))]
  // A sandbox that compacts ended sessions answers nothing any more; what it said yes to is what it had.
  const history = held.length < accepted.length ? accepted : held
  return { sessionId, history, signals, ending: script.ending } satisfies PlayedSession
})
