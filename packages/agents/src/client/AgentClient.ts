import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf"
import { readDenialDetails } from "@runplane/domain"
import {
  type Ack,
  backoff,
  CommitmentPayloadSchema,
  type Envelope,
  EnvelopeSchema,
  ProgressPayloadSchema,
  SessionStartPayloadSchema,
  SessionState,
  SignalPayloadSchema,
  StreamSessionRequestSchema
} from "@runplane/runtime"
import * as Clock from "effect/Clock"
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { type AgentFailure, MessageRefused, RuntimeCallFailed } from "./AgentFailure.ts"
import { Bootstrap, type BootstrapFile } from "./Bootstrap.ts"
import { callFailure, connect, type RuntimeConnection, subscribeFrames } from "./RuntimeConnection.ts"

type Init<Desc extends DescMessage> = MessageInitShape<Desc>

/** How often a message is sent again that met a suspended session: each resume of a session may be a short one. */
const RESUMES = 20

/** Attempts after the first one, and the milliseconds before them, doubling. */
const SEND_RETRIES = 3
const FIRST_BACKOFF_MS = 100
const LONGEST_BACKOFF_MS = 2_000

/** Milliseconds between two polls for a session that does not exist yet. */
const SESSION_POLL_MS = 100

/** PROTO_SESSION_WAIT_MS: milliseconds that a session may take to open, and a lost runtime to come back. */
const SESSION_WAIT_MS = 60_000

/** Milliseconds that a cancellation waits for a session that is just being opened; its caller waits 5,000. */
const CANCEL_WAIT_MS = 3_000

/** Milliseconds between two polls for a cancellation or expiry of the session, which its stream does not show. */
const END_POLL_MS = 1_000

/** The Signal by which an agent reports a refused message. */
const REFUSAL_SIGNAL = "message.refused"

/** Refusals that are not reported: the session has just ended, or the runtime does not know the agent. */
const UNREPORTED: ReadonlySet<string> = new Set(["SESSION_NOT_OPEN", "UNAUTHENTICATED"])

/** A session as one participant sees it: it sends with its own identity and reads all messages. */
export class AgentClient extends Context.Service<
  AgentClient,
  {
    /** SessionStart of the bootstrap's session, the caller being its initiator. */
    readonly start: (payload: Init<typeof SessionStartPayloadSchema>) => Effect.Effect<Ack, AgentFailure>
    readonly commit: (payload: Init<typeof CommitmentPayloadSchema>) => Effect.Effect<Ack, AgentFailure>
    /** An ambient Signal about this session; `data` travels as JSON bytes. */
    readonly signal: (signalType: string, data: object) => Effect.Effect<Ack, AgentFailure>
    /** Progress of this participant in this session, from 0 to 1. */
    readonly progress: (done: number, message: string) => Effect.Effect<Ack, AgentFailure>
    /** Cancels the session, which may still be opening. */
    readonly cancelSession: (reason: string) => Effect.Effect<Ack, AgentFailure>
    /** Any message of the session, for types without a method of their own. */
    readonly send: (messageType: string, payload: Uint8Array<ArrayBuffer>) => Effect.Effect<Ack, AgentFailure>
    /**
     * Every accepted envelope from the first, waiting for the session to appear: for as long as PROTO_SESSION_WAIT_MS
     * says, because an initiator that is gone never opens it. It goes on from the last one seen when the connection
     * breaks, and does not end with the session.
     */
    readonly envelopes: Stream.Stream<Envelope, RuntimeCallFailed>
    /** Waits until the session has ended, however it did. */
    readonly ended: Effect.Effect<SessionState, RuntimeCallFailed>
  }
>()("runplane/agents/AgentClient") {
  static readonly layer: Layer.Layer<AgentClient, never, Bootstrap> = Layer.effect(
    AgentClient,
    Effect.flatMap(Bootstrap, (bootstrap) => make(bootstrap))
  ).pipe(Layer.provide(SecureRandom.layerWebCrypto))
}

const make = Effect.fnUntraced(function* (
  bootstrap: BootstrapFile
): Effect.fn.Return<AgentClient["Service"], never, Scope.Scope | SecureRandom.SecureRandom> {
  const random = yield* SecureRandom.SecureRandom
  const connection = yield* connect(bootstrap)
  const { mode, session_id: sessionId } = bootstrap
  // Agents read their two variables themselves, without the settings table: they are programs of their own, which an
  // author copies. One that is not a number counts as unset: the agent's host has stopped listening to complaints.
  const sessionWaitMs = yield* Effect.orElseSucceed(Config.Int("PROTO_SESSION_WAIT_MS"), () => SESSION_WAIT_MS)

  const submit = Effect.fn("AgentClient.submit")(function* (
    messageType: string,
    payload: Uint8Array<ArrayBuffer>,
    scope: { readonly mode: string; readonly sessionId: string }
  ): Effect.fn.Return<Ack, AgentFailure> {
    const envelope = create(EnvelopeSchema, {
      macpVersion: "1.0",
      messageType,
      // The same id on every attempt: a lost answer becomes a duplicate, never a second message.
      messageId: yield* random.uuidV4(),
      timestampUnixMs: BigInt(yield* Clock.currentTimeMillis),
      payload,
      ...scope
    })
    const attempt = sendOnce(connection, envelope).pipe(
      Effect.catchIf(isUnknown, (failure) =>
        Effect.flatMap(connection.renew, (isNew) => (isNew ? sendOnce(connection, envelope) : Effect.fail(failure)))
      ),
      Effect.retry({ schedule: sendBackoff, while: isWorthRetrying })
    )
    // A suspended session refuses messages as one that has ended does, and goes on once it is resumed.
    const whenOpen = (retries: number): typeof attempt =>
      Effect.catchIf(attempt, isClosed, (failure) =>
        Effect.flatMap(hasResumed, (isOpen) => (isOpen && retries > 0 ? whenOpen(retries - 1) : Effect.fail(failure)))
      )
    return yield* Effect.tapError(whenOpen(RESUMES), (failure) => report(failure, envelope.messageId))
  })

  /** Whether the session is open, once it is not suspended. */
  const hasResumed = Effect.gen(function* () {
    const state = stateOf(connection, sessionId)
    const now = yield* state
    if (now !== SessionState.SUSPENDED) return now === SessionState.OPEN
    yield* Effect.logInfo(`session ${sessionId} is suspended: the message is sent once it is resumed`)
    const schedule = Schedule.spaced(END_POLL_MS)
    return (yield* Effect.repeat(state, { schedule, until: isDecided })) === SessionState.OPEN
  })

  /**
   * Sends a Signal about a refusal, which only this sender knows (docs/internals/runtime.md#usage-signals). A failure
   * of the Signal is ignored: the caller gets the refusal.
   */
  const report = (failure: AgentFailure, messageId: string) => {
    if (failure._tag === "RuntimeCallFailed" || UNREPORTED.has(failure.code) || failure.messageType === "Signal") {
      return Effect.void
    }
    const { code, denials, message, messageType, reasons } = failure
    const said = { messageType, messageId, code, message, reasons, ...(denials.length > 0 && { denials }) }
    const payload = signalPayload(REFUSAL_SIGNAL, said, sessionId)
    return Effect.ignore(submit("Signal", payload, { mode: "", sessionId: "" }))
  }

  const send = (messageType: string, payload: Uint8Array<ArrayBuffer>) =>
    submit(messageType, payload, { mode, sessionId })

  const sender =
    <Desc extends DescMessage>(messageType: string, schema: Desc) =>
    (payload: Init<Desc>) =>
      send(messageType, toBinary(schema, create(schema, payload)))

  return AgentClient.of({
    send,
    start: sender("SessionStart", SessionStartPayloadSchema),
    commit: sender("Commitment", CommitmentPayloadSchema),
    signal: (signalType, data) =>
      submit("Signal", signalPayload(signalType, data, sessionId), { mode: "", sessionId: "" }),
    progress: (done, message) =>
      send("Progress", toBinary(ProgressPayloadSchema, create(ProgressPayloadSchema, { progress: done, message }))),
    cancelSession: Effect.fn("AgentClient.cancelSession")(function* (reason: string) {
      const { ack } = yield* connection
        .call("CancelSession", (options) => connection.client.cancelSession({ sessionId, reason }, options))
        .pipe(
          Effect.retry({ schedule: sendBackoff, while: isWorthRetrying }),
          Effect.retry({ schedule: untilOpen, while: ({ status }) => status === "not_found" })
        )
      return yield* accepted("SessionCancel", ack)
    }),
    envelopes: follow(connection, sessionId, sessionWaitMs),
    ended: awaitEnd(connection, sessionId)
  })
})

const signalPayload = (signalType: string, data: object, correlationSessionId: string) =>
  toBinary(
    SignalPayloadSchema,
    create(SignalPayloadSchema, {
      signalType,
      data: new TextEncoder().encode(JSON.stringify(data)),
      confidence: 1,
      correlationSessionId
    })
  )

const sendOnce = (connection: RuntimeConnection, envelope: Envelope) =>
  connection
    .call("Send", (options) => connection.client.send({ envelope }, options))
    .pipe(Effect.flatMap(({ ack }) => accepted(envelope.messageType, ack)))

const accepted = (messageType: string, ack: Ack | undefined): Effect.Effect<Ack, MessageRefused> =>
  ack?.ok === true
    ? Effect.succeed(ack)
    : Effect.fail(
        new MessageRefused({
          messageType,
          code: ack?.error?.code ?? "INTERNAL_ERROR",
          detail: ack?.error?.message ?? "the runtime sent no acknowledgement",
          ...reasonsOf(ack?.error?.details)
        })
      )

const reasonsOf = (details: Uint8Array = new Uint8Array()) => {
  const { denials, reasons } = readDenialDetails(details)
  return { denials, reasons }
}

/** The runtime does not know the credential: of a Send it says so in the acknowledgement. */
const isUnknown = (failure: AgentFailure): boolean =>
  failure._tag === "MessageRefused" && failure.code === "UNAUTHENTICATED"

const isClosed = (failure: AgentFailure): boolean =>
  failure._tag === "MessageRefused" && failure.code === "SESSION_NOT_OPEN"

const isWorthRetrying = (failure: AgentFailure): boolean =>
  failure._tag === "RuntimeCallFailed"
    ? failure.isTransport
    : failure.code === "RATE_LIMITED" || failure.code === "INTERNAL_ERROR"

const sendBackoff = backoff(FIRST_BACKOFF_MS, LONGEST_BACKOFF_MS).pipe(Schedule.upTo({ times: SEND_RETRIES }))

const untilOpen = Schedule.spaced(SESSION_POLL_MS).pipe(Schedule.upTo({ duration: CANCEL_WAIT_MS }))

/** Retries while the session is not there, and across broken connections, from the ordinal after the last one seen. */
const follow = (
  connection: RuntimeConnection,
  sessionId: string,
  waitMs: number
): Stream.Stream<Envelope, RuntimeCallFailed> =>
  Stream.unwrap(
    Effect.map(Ref.make(0n), (last) =>
      Stream.unwrap(Effect.map(Ref.get(last), (after) => subscribe(connection, sessionId, after))).pipe(
        Stream.tap(() => Ref.update(last, (ordinal) => ordinal + 1n)),
        Stream.catchIf(
          ({ detail, status }) => status === "failed_precondition" && COMPACTED.test(detail),
          ({ detail }) => goOnBehind(detail, last)
        ),
        Stream.catchIf(
          ({ status }) => status === "unauthenticated",
          (failure) =>
            Stream.unwrap(Effect.map(connection.renew, (isNew) => Stream.fail(isNew ? streamEnded : failure)))
        ),
        Stream.retry(
          Schedule.spaced(SESSION_POLL_MS).pipe(
            Schedule.upTo({ duration: waitMs }),
            Schedule.setInputType<RuntimeCallFailed>(),
            Schedule.while(({ input }) => input.isTransport || input.status === "not_found")
          )
        ),
        Stream.mapError((failure) => (failure.status === "not_found" ? neverOpened(waitMs) : failure))
      )
    )
  )

/**
 * What the runtime says of a history that it has dropped (docs/internals/runtime.md#compaction), with where it begins
 * now.
 */
const COMPACTED = /history before ordinal (\d+) was compacted|HISTORY_UNAVAILABLE/

/**
 * An agent that subscribes after a compaction has missed the earlier messages and continues from there. Usually the
 * session has ended by then: the agent reads that beside the stream and exits with success.
 */
const goOnBehind = (detail: string, last: Ref.Ref<bigint>): Stream.Stream<never, RuntimeCallFailed> =>
  Stream.unwrap(
    Ref.modify(last, (ordinal) => {
      const base = BigInt(COMPACTED.exec(detail)?.[1] ?? "0")
      return base - 1n > ordinal ? [Stream.fail(streamEnded), base - 1n] : [Stream.never, ordinal]
    })
  )

const neverOpened = (waitMs: number) =>
  new RuntimeCallFailed({
    call: "StreamSession",
    status: "not_found",
    detail: `the session was not opened within ${waitMs / 1_000} s; its initiator has ended, or was refused`
  })

const subscribe = (
  { client, headers }: RuntimeConnection,
  sessionId: string,
  afterSequence: bigint
): Stream.Stream<Envelope, RuntimeCallFailed> =>
  Stream.unwrap(
    Effect.map(
      Effect.acquireRelease(
        Effect.sync(() => new AbortController()),
        (controller) => Effect.sync(() => controller.abort())
      ),
      ({ signal }) => {
        const first = create(StreamSessionRequestSchema, { subscribeSessionId: sessionId, afterSequence })
        const responses = client.streamSession(subscribeFrames(first, signal), { signal, headers: headers() })
        const frames = Stream.fromAsyncIterable(responses, (cause) => callFailure("StreamSession", cause))
        // A session stream never ends by itself: the runtime is going away, so this counts as a broken connection.
        return Stream.concat(frames, Stream.fail(streamEnded))
      }
    )
  ).pipe(
    Stream.mapEffect(({ response }) =>
      response.case === "envelope"
        ? Effect.succeed(response.value)
        : Effect.fail(
            new RuntimeCallFailed({
              call: "StreamSession",
              status: "failed_precondition",
              detail: response.value?.message ?? "a frame without content"
            })
          )
    )
  )

const streamEnded = new RuntimeCallFailed({
  call: "StreamSession",
  status: "unavailable",
  detail: "the runtime ended the stream"
})

const isOver = (state: SessionState): boolean =>
  state === SessionState.RESOLVED || state === SessionState.CANCELLED || state === SessionState.EXPIRED

const isDecided = (state: SessionState): boolean => isOver(state) || state === SessionState.OPEN

const awaitEnd = (connection: RuntimeConnection, sessionId: string): Effect.Effect<SessionState, RuntimeCallFailed> =>
  Effect.repeat(stateOf(connection, sessionId), { schedule: Schedule.spaced(END_POLL_MS), until: isOver })

/** The state of the session; unspecified while the runtime does not know it, or does not answer. */
const stateOf = (connection: RuntimeConnection, sessionId: string): Effect.Effect<SessionState, RuntimeCallFailed> =>
  connection
    .call("GetSession", (options) => connection.client.getSession({ sessionId }, options))
    .pipe(
      Effect.map(({ metadata }) => metadata?.state ?? SessionState.UNSPECIFIED),
      // Not open yet, or the runtime restarts: it is read again. To an agent a session that was dropped after its end
      // is the same as one that never opened, and its stream has the timeout for that.
      Effect.catchIf(
        (failure) => failure.isTransport || failure.status === "not_found",
        () => Effect.succeed(SessionState.UNSPECIFIED)
      )
    )
