import { create } from "@bufbuild/protobuf"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { makeGrpcCalls } from "./GrpcCalls.ts"
import { makeGrpcConnections, STREAMS_PER_CONNECTION } from "./GrpcConnections.ts"
import type { Ack } from "./gen/macp/v1/envelope_pb.ts"
import { PolicyDescriptorSchema } from "./gen/macp/v1/policy_pb.ts"
import { MACPRuntimeService } from "./gen/macp/v1/service_pb.ts"
import { readAsMember } from "./MemberReads.ts"
import { envelopeOfHead } from "./MessageHead.ts"
import { identityFromWire, manifestFromWire, modeFromWire, policyFromWire, rootFromWire } from "./RuntimeCatalog.ts"
import type { RuntimeClientShape } from "./RuntimeClientShape.ts"
import { RuntimeCredentials } from "./RuntimeCredentials.ts"
import { RuntimeError } from "./RuntimeError.ts"
import { collectSessions, defaultListingLimits, type ListingLimits } from "./SessionListing.ts"
import { ackFromWire, lifecycleFromWire, signalFromWire, snapshotFromWire, streamFrameFromWire } from "./WireFrames.ts"

const RUNTIME_KIND = "rust"
/** Deadline of a unary call. */
const REQUEST_TIMEOUT_MS = 30_000
/** Largest message taken. */
const MAX_RECEIVE_MESSAGE_BYTES = 16 * 1024 * 1024
/** Largest message sent. */
const MAX_SEND_MESSAGE_BYTES = 4 * 1024 * 1024
/** Buffer of a stream for a slow reader. */
const STREAM_BUFFER_BYTES = 64 * 1024

const PROTOCOL_VERSION = "1.0"
const CLIENT_NAME = "runplane"
const CLIENT_VERSION = "0.1.0"

/** What is not given has the default of the setting of that meaning. */
export interface GrpcClientOptions {
  /** `host:port`. */
  readonly address: string
  readonly kind?: string
  /** TLS with the system's roots; else plain text. */
  readonly tls?: boolean
  /** Certificates in PEM form that are trusted in place of the system's roots. */
  readonly ca?: string | undefined
  readonly requestTimeoutMs?: number
  readonly maxReceiveBytes?: number
  readonly maxSendBytes?: number
  readonly streamBufferBytes?: number
  readonly listing?: Partial<ListingLimits>
  readonly streamsPerConnection?: number
}

/** The gRPC implementation of `RuntimeClient`; connections are opened on first use. */
export const makeGrpcClient = Effect.fnUntraced(function* (
  options: GrpcClientOptions
): Effect.fn.Return<RuntimeClientShape, never, Scope.Scope | RuntimeCredentials> {
  const maxReceiveBytes = options.maxReceiveBytes ?? MAX_RECEIVE_MESSAGE_BYTES
  const maxSendBytes = options.maxSendBytes ?? MAX_SEND_MESSAGE_BYTES
  const connections = yield* makeGrpcConnections({
    address: options.address,
    tls: options.tls ?? false,
    ca: options.ca,
    maxReceiveBytes,
    maxSendBytes,
    streamsPerConnection: options.streamsPerConnection ?? STREAMS_PER_CONNECTION
  })
  const { burst, stream, unary } = yield* makeGrpcCalls(connections, {
    userAgent: `${CLIENT_NAME}/${CLIENT_VERSION}`,
    timeoutMs: options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
    streams: { maxReceiveBytes, maxSendBytes, bufferBytes: options.streamBufferBytes ?? STREAM_BUFFER_BYTES }
  })
  const { method } = MACPRuntimeService
  const listing = { ...defaultListingLimits, ...options.listing }

  const { inNameOf } = yield* RuntimeCredentials

  const listSessionsPage: RuntimeClientShape["listSessionsPage"] = (request) =>
    unary(
      method.listSessions,
      (rpc, call) => rpc.listSessions(request, call),
      ({ nextPageToken, sessions }) => ({ nextPageToken, sessions: sessions.map(snapshotFromWire) })
    )

  const client: RuntimeClientShape = {
    address: options.address,
    kind: options.kind ?? RUNTIME_KIND,
    listing,
    initialize: unary(method.initialize, (rpc, call) => rpc.initialize(hello, call), identityFromWire),
    getSession: (sessionId) =>
      unary(
        method.getSession,
        (rpc, call) => rpc.getSession({ sessionId }, call),
        ({ metadata }) => snapshotFromWire(present(metadata, "GetSession")),
        // An observer polls until the session exists, and the runtime denies access to a member's session at first.
        inNameOf === undefined ? ["NOT_FOUND"] : ["NOT_FOUND", "PERMISSION_DENIED"]
      ),
    listSessionsPage,
    listSessions: collectSessions(listSessionsPage, listing),
    streamSession: ({ afterSequence, sessionId }) =>
      stream(
        method.streamSession,
        { subscribeSessionId: sessionId, afterSequence: BigInt(afterSequence) },
        streamFrameFromWire,
        { readHead: envelopeOfHead }
      ),
    // Among the sessions' streams: it keeps their connection in use, so that the next one opens at once.
    watchSessions: stream(method.watchSessions, {}, ({ event }) => event && lifecycleFromWire(event)),
    watchSignals: burst(method.watchSignals, {}, signalFromWire),
    cancelSession: (control) =>
      unary(method.cancelSession, (rpc, call) => rpc.cancelSession(control, call), ackOf("CancelSession")),
    suspendSession: (control) =>
      unary(method.suspendSession, (rpc, call) => rpc.suspendSession(control, call), ackOf("SuspendSession")),
    resumeSession: (control) =>
      unary(method.resumeSession, (rpc, call) => rpc.resumeSession(control, call), ackOf("ResumeSession")),
    registerPolicy: (policy) =>
      unary(
        method.registerPolicy,
        (rpc, call) => rpc.registerPolicy({ policyDescriptor: create(PolicyDescriptorSchema, policy) }, call),
        ({ error, ok }) => ({ ok, error })
      ),
    unregisterPolicy: (policyId) =>
      unary(
        method.unregisterPolicy,
        (rpc, call) => rpc.unregisterPolicy({ policyId }, call),
        ({ error, ok }) => ({ ok, error })
      ),
    getPolicy: (policyId) =>
      unary(
        method.getPolicy,
        (rpc, call) => rpc.getPolicy({ policyId }, call),
        ({ policyDescriptor }) => policyFromWire(present(policyDescriptor, "GetPolicy")),
        ["NOT_FOUND"]
      ),
    listPolicies: (mode) =>
      unary(
        method.listPolicies,
        (rpc, call) => rpc.listPolicies({ mode }, call),
        ({ descriptors }) => descriptors.map(policyFromWire)
      ),
    getDecisionReceipt: (sessionId) =>
      unary(
        method.getDecisionReceipt,
        (rpc, call) => rpc.getDecisionReceipt({ sessionId }, call),
        ({ receiptJson }) => receiptJson,
        inNameOf === undefined
          ? ["NOT_FOUND", "FAILED_PRECONDITION"]
          : ["NOT_FOUND", "FAILED_PRECONDITION", "PERMISSION_DENIED"]
      ),
    getReceiptKeys: unary(
      method.getReceiptKeys,
      (rpc, call) => rpc.getReceiptKeys({}, call),
      ({ jwksJson }) => jwksJson
    ),
    listModes: unary(
      method.listModes,
      (rpc, call) => rpc.listModes({}, call),
      ({ modes }) => modes.map(modeFromWire)
    ),
    listRoots: unary(
      method.listRoots,
      (rpc, call) => rpc.listRoots({}, call),
      ({ roots }) => roots.map(rootFromWire)
    ),
    getManifest: (agentId) =>
      unary(
        method.getManifest,
        (rpc, call) => rpc.getManifest({ agentId }, call),
        ({ manifest }) => manifestFromWire(present(manifest, "GetManifest")),
        ["NOT_FOUND"]
      )
  }
  return inNameOf === undefined ? client : { ...client, ...readAsMember(client, inNameOf) }
})

const hello = {
  supportedProtocolVersions: [PROTOCOL_VERSION],
  clientInfo: { name: CLIENT_NAME, version: CLIENT_VERSION }
}

// Thrown inside the conversion of an answer, where the call turns it into a failure.
const present = <A>(value: A | undefined, method: string): A => {
  if (value !== undefined) return value
  throw new RuntimeError({ reason: "INTERNAL", method, message: `the runtime answered ${method} without a result` })
}

/** The acknowledgement of an answer. */
export const ackOf =
  (method: string) =>
  ({ ack }: { readonly ack?: Ack | undefined }) =>
    ackFromWire(present(ack, method))
