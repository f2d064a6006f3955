import type { DescMethod } from "@bufbuild/protobuf"
import { ConnectError, decodeBinaryHeader } from "@connectrpc/connect"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import type { GrpcConnections, RuntimeRpc } from "./GrpcConnections.ts"
import { type CredentialHeaders, RuntimeCredentials } from "./RuntimeCredentials.ts"
import { grpcStatusName, RuntimeError, type RuntimeErrorReason } from "./RuntimeError.ts"
import { wireStream } from "./WireStream.ts"

/** Told of every unary call that ended: name of the call, seconds it took, whether it succeeded. */
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
  readonly headers: Headers
  readonly timeoutMs: number
}

interface StreamOptions {
  readonly signal: AbortSignal
  readonly headers: Headers
}

export interface CallLimits {
  /** Deadline of a unary call, milliseconds. */
  readonly timeoutMs: number
  /** Content that a stream holds back for a slow reader. */
  readonly streamBufferBytes: number
}

/** How calls are made: metadata, deadline, cancellation, error mapping, a span and the meter. */
export const makeGrpcCalls = Effect.fnUntraced(function* (connections: GrpcConnections, limits: CallLimits) {
  const { streamBufferBytes, timeoutMs } = limits
  const credentials = yield* RuntimeCredentials

  const headers = Effect.gen(function* () {
    const metadata = new Headers()
    for (const [name, value] of (yield* OtherCredentials) ?? (yield* credentials.headers))
      metadata.set(name, Redacted.value(value))
    const span = propagated(Option.getOrUndefined(yield* Effect.serviceOption(Tracer.ParentSpan)))
    metadata.set("traceparent", traceparent(span ?? (yield* unrecorded)))
    const state = yield* OutgoingTraceState
    if (state !== "") metadata.set("tracestate", state)
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
   * pool unless it says another.
   */
  const stream = <Message, Frame>(
    { name }: DescMethod,
    call: (rpc: RuntimeRpc, options: StreamOptions) => AsyncIterable<Message>,
    convert: (message: Message) => Frame | undefined,
    bytesOf: (frame: Frame) => number = () => 0,
    connection: Effect.Effect<RuntimeRpc, never, Scope.Scope> = connections.forStream
  ): Stream.Stream<Frame, RuntimeError> =>
    Stream.unwrap(
      Effect.gen(function* () {
        const metadata = yield* headers
        const rpc = yield* connection
        return wireStream({
          open: (signal) => call(rpc, { signal, headers: metadata }),
          convert,
          bytesOf,
          bufferBytes: streamBufferBytes,
          onError: toRuntimeError(name)
        })
      })
    ).pipe(Stream.tapError(noticeRefusal))

  /** A stream of what no session repeats. */
  const burst = <Message, Frame>(
    method: DescMethod,
    call: (rpc: RuntimeRpc, options: StreamOptions) => AsyncIterable<Message>,
    convert: (message: Message) => Frame | undefined,
    bytesOf?: (frame: Frame) => number
  ) => stream(method, call, convert, bytesOf, Effect.succeed(connections.burst))

  return { unary, stream, burst }
})

/** Number of the status with which a call has ended, as OpenTelemetry names it. */
const STATUS_ATTRIBUTE = "rpc.grpc.status_code"

const spanOptions = (method: string) => ({
  kind: "client" as const,
  attributes: { "rpc.system": "grpc", "rpc.service": "macp.v1.MACPRuntimeService", "rpc.method": method }
})

/**
 * The nearest span with ids that mean something to others: those that stand in for spans while tracing is off have
 * none.
 */
const propagated = (span: Tracer.AnySpan | undefined): Tracer.AnySpan | undefined => {
  if (span === undefined || !Context.get(span.annotations, Tracer.DisablePropagation)) return span
  return span._tag === "Span" ? propagated(Option.getOrUndefined(span.parent)) : undefined
}

/**
 * Every call carries a `traceparent`, so that the runtime's log can tell calls apart even when nobody records the
 * trace.
 */
const unrecorded = Effect.withTracerEnabled(Effect.makeSpan("call", { root: true, sampled: false }), true)

const traceparent = ({ sampled, spanId, traceId }: Tracer.AnySpan): string =>
  `00-${traceId.padStart(32, "0")}-${spanId.padStart(16, "0")}-${sampled ? "01" : "00"}`

const toRuntimeError =
  (method: string) =>
  (cause: unknown): RuntimeError => {
    if (cause instanceof RuntimeError) return cause
    const error = ConnectError.from(cause)
    const denialReasons = denialReasonsOf(error.metadata)
    return new RuntimeError({
      method,
      reason: grpcStatusName(error.code),
      message: error.rawMessage,
      cause: error,
      ...(denialReasons === undefined ? {} : { denialReasons })
    })
  }

const DenialDetails = Schema.fromJsonString(Schema.Struct({ reasons: Schema.Array(Schema.String) }))
const decodeDenialDetails = Schema.decodeUnknownOption(DenialDetails)

/** Reasons of a policy denial; undefined when there are none or they cannot be read. */
const denialReasonsOf = (metadata: Headers): ReadonlyArray<string> | undefined => {
  const header = metadata.get("macp-error-details-bin")
  if (header === null) return undefined
  try {
    const text = new TextDecoder().decode(decodeBinaryHeader(header))
    return Option.getOrUndefined(decodeDenialDetails(text))?.reasons
  } catch {
    // Not base64: the status itself says enough.
    return undefined
  }
}
