import { type Client, createClient } from "@connectrpc/connect"
import { createGrpcTransport } from "@connectrpc/connect-node"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { StreamConnection } from "./GrpcStream.ts"
import { GuardedSessionManager, Keepalive, PING_INTERVAL_MS, TOO_MANY_PINGS } from "./GuardedSessionManager.ts"
import { MACPRuntimeService } from "./gen/macp/v1/service_pb.ts"

/**
 * Bytes of signals that the runtime may send before they are read. The runtime keeps few messages for a slow reader and
 * drops further ones, so a burst must leave it even while this process is busy.
 */
const BURST_WINDOW_BYTES = 8 * 1024 * 1024

/** Open streams a connection carries at most: runtimes admit 128, and Node queues the rest without a word. */
export const STREAMS_PER_CONNECTION = 100

export type RuntimeRpc = Client<typeof MACPRuntimeService>

export interface ConnectionOptions {
  /** `host:port`. */
  readonly address: string
  readonly tls: boolean
  /** Certificates in PEM form that are trusted in place of the system's roots. */
  readonly ca?: string | undefined
  readonly maxReceiveBytes: number
  readonly maxSendBytes: number
  readonly streamsPerConnection: number
}

export interface GrpcConnections {
  /** For unary calls: a connection of their own, so that no number of streams delays them. */
  readonly unary: RuntimeRpc
  /** For the signals of all sessions, which cannot be read again: a separate connection with space for bursts. */
  readonly burst: StreamConnection
  /** A connection for one stream; the scope releases its slot. */
  readonly forStream: Effect.Effect<StreamConnection, never, Scope.Scope>
}

interface Pooled {
  readonly sessions: GuardedSessionManager
  streams: number
}

/** The HTTP/2 connections to one runtime; all are opened on first use and closed with the scope. */
export const makeGrpcConnections = Effect.fnUntraced(function* (
  options: ConnectionOptions
): Effect.fn.Return<GrpcConnections, never, Scope.Scope> {
  const baseUrl = `${options.tls ? "https" : "http"}://${options.address}`
  const { ca } = options
  const pool = new Set<Pooled>()
  const logWidened = Effect.runForkWith(yield* Effect.context<never>())
  const keepalive = new Keepalive(PING_INTERVAL_MS, (intervalMs) =>
    logWidened(Effect.logWarning(`the runtime wants fewer pings (${TOO_MANY_PINGS}): one every ${intervalMs} ms now`))
  )
  const unary = new GuardedSessionManager(baseUrl, { ca, keepalive })
  const burst = new GuardedSessionManager(baseUrl, { ca, keepalive, windowBytes: BURST_WINDOW_BYTES })
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      for (const sessions of [unary, burst, ...[...pool].map((pooled) => pooled.sessions)]) sessions.abort()
    })
  )
  const acquire = Effect.sync(() => {
    let connection: Pooled | undefined
    for (const candidate of pool) {
      if (candidate.streams < options.streamsPerConnection) {
        connection = candidate
        break
      }
    }
    if (connection === undefined) {
      connection = { sessions: new GuardedSessionManager(baseUrl, { ca, keepalive }), streams: 0 }
      pool.add(connection)
    }
    connection.streams += 1
    return connection
  })
  const release = (connection: Pooled) =>
    Effect.sync(() => {
      connection.streams -= 1
      // One connection stays warm for the next stream.
      if (connection.streams === 0 && pool.size > 1) {
        pool.delete(connection)
        connection.sessions.abort()
      }
    })
  const transport = createGrpcTransport({
    baseUrl,
    sessionManager: unary,
    readMaxBytes: options.maxReceiveBytes,
    writeMaxBytes: options.maxSendBytes,
    acceptCompression: [],
    binaryOptions: { readUnknownFields: false }
  })
  return {
    unary: createClient(MACPRuntimeService, transport),
    burst,
    forStream: Effect.map(Effect.acquireRelease(acquire, release), ({ sessions }) => sessions)
  }
})
