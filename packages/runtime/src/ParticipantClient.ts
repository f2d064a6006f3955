import type { RawEnvelope, SendAck, SessionSnapshot, SessionStreamFrame } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { makeGrpcCalls, OtherCredentials } from "./GrpcCalls.ts"
import { ackOf, type GrpcClientOptions, makeGrpcClient } from "./GrpcClient.ts"
import { makeGrpcConnections, STREAMS_PER_CONNECTION } from "./GrpcConnections.ts"
import { MACPRuntimeService } from "./gen/macp/v1/service_pb.ts"
import type { RuntimeIdentity, RuntimePolicy } from "./RuntimeCatalog.ts"
import type { SessionControl, SessionSubscription } from "./RuntimeClientShape.ts"
import { RuntimeCredentials } from "./RuntimeCredentials.ts"
import type { RuntimeError } from "./RuntimeError.ts"

/** A message as a participant sends it; the runtime writes the sender. */
export type OutgoingEnvelope = Omit<RawEnvelope, "sender" | "macpVersion" | "timestampUnixMs"> & {
  readonly timestampUnixMs: number
}

/** The runtime as one participant uses it: reads its sessions, and sends messages into them. */
export interface ParticipantCalls {
  readonly initialize: Effect.Effect<RuntimeIdentity, RuntimeError>
  readonly streamSession: (subscription: SessionSubscription) => Stream.Stream<SessionStreamFrame, RuntimeError>
  readonly getSession: (sessionId: string) => Effect.Effect<SessionSnapshot, RuntimeError>
  readonly getPolicy: (policyId: string) => Effect.Effect<RuntimePolicy, RuntimeError>
  /** Once: a refusal of the runtime is in the answer, and a failure does not say whether the message was accepted. */
  readonly send: (envelope: OutgoingEnvelope) => Effect.Effect<SendAck, RuntimeError>
  /** Once, as `send`. Only the initiator and the participants that may commit are allowed to. */
  readonly suspendSession: (control: SessionControl) => Effect.Effect<SendAck, RuntimeError>
  readonly resumeSession: (control: SessionControl) => Effect.Effect<SendAck, RuntimeError>
}

/**
 * The runtime for a service that acts as participants: the calls of each have the bearer of that participant, over
 * common connections.
 */
export class ParticipantClient extends Context.Service<
  ParticipantClient,
  { readonly as: (bearer: Redacted.Redacted) => ParticipantCalls }
>()("runplane/runtime/ParticipantClient") {
  static readonly layerGrpc = (options: GrpcClientOptions): Layer.Layer<ParticipantClient> =>
    Layer.effect(ParticipantClient, make(options)).pipe(Layer.provide(RuntimeCredentials.layerNone))
}

/** Deadline of a call that changes a session. */
const SEND_TIMEOUT_MS = 10_000
/** A Send is small, and so is its answer. */
const SEND_BYTES = 4 * 1024 * 1024
const STREAM_BYTES = 64 * 1024
const VERSION = "1.0"

const make = Effect.fnUntraced(function* (options: GrpcClientOptions) {
  const reads = yield* makeGrpcClient(options)
  const connections = yield* makeGrpcConnections({
    address: options.address,
    tls: options.tls ?? false,
    ca: options.ca,
    maxReceiveBytes: SEND_BYTES,
    maxSendBytes: SEND_BYTES,
    streamsPerConnection: STREAMS_PER_CONNECTION
  })
  const { unary } = yield* makeGrpcCalls(connections, {
    userAgent: "runplane/0.1.0",
    timeoutMs: SEND_TIMEOUT_MS,
    streams: { maxReceiveBytes: SEND_BYTES, maxSendBytes: SEND_BYTES, bufferBytes: STREAM_BYTES }
  })
  const send = ({ timestampUnixMs, ...envelope }: OutgoingEnvelope) =>
    unary(
      MACPRuntimeService.method.send,
      (rpc, call) =>
        rpc.send(
          {
            envelope: {
              ...envelope,
              payload: Uint8Array.from(envelope.payload),
              macpVersion: VERSION,
              timestampUnixMs: BigInt(timestampUnixMs)
            }
          },
          call
        ),
      ackOf("Send")
    )
  return ParticipantClient.of({
    as: (bearer) => {
      const credentials = [["authorization", Redacted.make(`Bearer ${Redacted.value(bearer)}`)]] as const
      const own = <A>(call: Effect.Effect<A, RuntimeError>) =>
        Effect.provideService(call, OtherCredentials, credentials)
      return {
        initialize: own(reads.initialize),
        streamSession: (subscription) =>
          Stream.provideService(reads.streamSession(subscription), OtherCredentials, credentials),
        getSession: (sessionId) => own(reads.getSession(sessionId)),
        getPolicy: (policyId) => own(reads.getPolicy(policyId)),
        send: (envelope) => own(send(envelope)),
        suspendSession: (control) =>
          own(unary(suspendSession, (rpc, call) => rpc.suspendSession(control, call), ackOf("SuspendSession"))),
        resumeSession: (control) =>
          own(unary(resumeSession, (rpc, call) => rpc.resumeSession(control, call), ackOf("ResumeSession")))
      }
    }
  })
})

const { resumeSession, suspendSession } = MACPRuntimeService.method
