import {
  create,
  type DescMessage,
  type DescMethod,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary
} from "@bufbuild/protobuf"
import type { RawEnvelope } from "@runplane/domain"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import type { GrpcConnections, RuntimeRpc } from "./GrpcConnections.ts"
import { toRuntimeError } from "./GrpcStatus.ts"
import { openGrpcStream, type StreamConnection, type StreamLimits } from "./GrpcStream.ts"
import { type CredentialHeaders, RuntimeCredentials } from "./RuntimeCredentials.ts"
import type { RuntimeError, RuntimeErrorReason } from "./RuntimeError.ts"

/** Called after every unary call: its name, its duration in seconds, whether it succeeded. */
export const RuntimeCallMeter = Context.Reference<(method: string, seconds: number, ok: boolean) => void>(
  "runplane/runtime/RuntimeCallMeter",
  { defaultValue: () => () => {} }
)

/** W3C `tracestate` to send along with `traceparent`; empty sends none. Effect's spans do not carry one themselves. */
export const OutgoingTraceState = Context.Reference<string>("runplane/runtime/OutgoingTraceState", {
  defaultValue: () => ""
})

/** Sent in place of our own credentials; undefined sends those. */
export const OtherCredentials = Context.Reference<CredentialHeaders | undefined>("runplane/runtime/OtherCredentials", {
  defaultValue: () => undefined
})

interface UnaryOptions {
  readonly signal: AbortSignal
  readonly headers: Record<string, string>
  readonly timeoutMs: number
}

/** A call that is answered by a stream of messages. */
type StreamMethod<I extends DescMessage, O extends DescMessage> = DescMethod & {
  readonly methodKind: "server_streaming" | "bidi_streaming"
  readonly input: I
  readonly output: O
}

export interface CallOptions {
  /** The `user-agent` of every call. */
  readonly userAgent: string
  /** Deadline of a unary call, milliseconds. */
  readonly timeoutMs: number
  readonly streams: StreamLimits
}

/** How calls are made: metadata, deadline, cancellation, error mapping, a span and the meter. */
export const makeGrpcCalls = Effect.fnUntraced(function* (connections: GrpcConnections, options: CallOptions) {
  const { streams: limits, timeoutMs, userAgent } = options
  const credentials = yield* RuntimeCredentials

  const headers = Effect.gen(function* () {
    const metadata: Record<string, string> = { "user-agent": userAgent }
    for (const [name, value] of (yield* OtherCredentials) ?? (yield* credentials.headers))
      metadata[name.toLowerCase()] = Redacted.value(value)
    const span = propagated(Option.getOrUndefined(yield* Effect.serviceOption(Tracer.ParentSpan)))
    metadata["traceparent"] = traceparent(span ?? (yield* unrecorded))
    const state = yield* OutgoingTraceState
    if (state !== "") metadata["tracestate"] = state
    return metadata
  })

  const noticeRefusal = (error: RuntimeError) =>
    error.reason === "UNAUTHENTICATED" ? credentials.refused : Effect.succeed(false)

  /** Once more when a credential was refused that has a successor: a run must not fail because a token ended early. */
  const withRenewal = <A>(attempt: Effect.Effect<A, RuntimeError>): Effect.Effect<A, RuntimeError> =>
    Effect.catch(attempt, (error) =>
      Effect.flatMap(noticeRefusal(error), (isRenewed) => (isRenewed ? attempt : Effect.fail(error)))
    )

  /**
   * One answer, converted; a conversion that throws a RuntimeError fails with it. A failure for one of the `expected`
   * reasons is an answer of the runtime like any other: the call fails, and its span does not.
   */
  const unary = <Answer, A>(
    { name }: DescMethod,
    call: (rpc: RuntimeRpc, options: UnaryOptions) => Promise<Answer>,
    convert: (answer: Answer) => A,
    expected: ReadonlyArray<RuntimeErrorReason> = []
  ): Effect.Effect<A, RuntimeError> =>
    withRenewal(
      Effect.gen(function* () {
        const metadata = yield* headers
        const meter = yield* RuntimeCallMeter
        const startedAt = yield* Clock.currentTimeNanos
        return yield* Effect.tryPromise({
          try: async (signal) => convert(await call(connections.unary, { signal, headers: metadata, timeoutMs })),
          catch: toRuntimeError(name)
        }).pipe(
          Effect.onExit((exit) =>
            Effect.map(Clock.currentTimeNanos, (now) =>
              meter(name, Number(now - startedAt) / 1e9, Exit.isSuccess(exit))
            )
          )
        )
      })
    ).pipe(
      Effect.map(Result.succeed),
      Effect.catchIf(
        ({ reason }) => expected.includes(reason),
        (error) => Effect.as(Effect.annotateCurrentSpan(STATUS_ATTRIBUTE, error.grpcCode), Result.fail(error))
      ),
      Effect.withSpan(`RuntimeClient.${name}`, spanOptions(name)),
      Effect.flatMap(Effect.fromResult)
    )

  /**
   * A stream without a deadline; its span and metadata are those of the moment it is opened. On a connection of the
   * pool unless the caller names another. `readHead` reads the envelope of a message that is too large to be received.
   * The client's side of a bidirectional call stays open: closing it ends a subscription.
   */
  const stream = <I extends DescMessage, O extends DescMessage, Frame>(
    method: StreamMethod<I, O>,
    request: MessageInitShape<I>,
    convert: (message: MessageShape<O>) => Frame | undefined,
    {
      connection = connections.forStream,
      readHead
    }: {
      readonly connection?: Effect.Effect<StreamConnection, never, Scope.Scope>
      readonly readHead?: (head: Uint8Array) => RawEnvelope | undefined
    } = {}
  ): Stream.Stream<Frame, RuntimeError> =>
    Stream.scoped(
      Stream.fromPull(
        Effect.gen(function* () {
          const metadata = yield* headers
          const pull = yield* openGrpcStream(yield* connection, {
            method: method.name,
            path: `/${method.parent.typeName}/${method.name}`,
            metadata,
            request: toBinary(method.input, create(method.input, request)),
            holdOpen: method.methodKind === "bidi_streaming",
            read: (bytes) => convert(fromBinary(method.output, bytes, { readUnknownFields: false })),
            readHead,
            limits
          })
          return Effect.tapError(pull, (error) => (Cause.isDone(error) ? Effect.void : noticeRefusal(error)))
        })
      )
    )

  /** A stream of what no session repeats. */
  const burst = <I extends DescMessage, O extends DescMessage, Frame>(
    method: StreamMethod<I, O>,
    request: MessageInitShape<I>,
    convert: (message: MessageShape<O>) => Frame | undefined
  ) => stream(method, request, convert, { connection: Effect.succeed(connections.burst) })

  return { unary, stream, burst }
})

/** Number of the status with which a call has ended, as OpenTelemetry names it. */
const STATUS_ATTRIBUTE = "rpc.grpc.status_code"

const spanOptions = (method: string) => ({
  kind: "client" as const,
  attributes: { "rpc.system": "grpc", "rpc.service": "macp.v1.MACPRuntimeService", "rpc.method": method }
})

/**
 * The nearest span with ids. The placeholder spans of a disabled tracer have none.
 */
const propagated = (span: Tracer.AnySpan | undefined): Tracer.AnySpan | undefined => {
  if (span === undefined || !Context.get(span.annotations, Tracer.DisablePropagation)) return span
  return span._tag === "Span" ? propagated(Option.getOrUndefined(span.parent)) : undefined
}

/**
 * Every call carries a `traceparent`, so that the runtime's log can distinguish calls without a recorded trace.
 */
const unrecorded = Effect.withTracerEnabled(Effect.makeSpan("call", { root: true, sampled: false }), true)

const traceparent = ({ sampled, spanId, traceId }: Tracer.AnySpan): string =>
  `00-${traceId.padStart(32, "0")}-${spanId.padStart(16, "0")}-${sampled ? "01" : "00"}`
