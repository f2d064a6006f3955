import { createServer, type Http2Server, type ServerHttp2Session } from "node:http2"
import type { Socket } from "node:net"
import { Code, ConnectError, type ConnectRouter, type HandlerContext, type ServiceImpl } from "@connectrpc/connect"
import { connectNodeAdapter } from "@connectrpc/connect-node"
import { Health, MACPRuntimeService, HealthCheckResponse_ServingStatus as ServingStatus } from "@runplane/runtime"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { SandboxOptions } from "../SandboxOptions.ts"
import { aborted } from "./Watches.ts"

/** The empty name is the whole server. */
const KNOWN = new Set(["", MACPRuntimeService.typeName, Health.typeName])

/**
 * Serves `grpc.health.v1.Health` (docs/internals/runtime.md#rpcs). A server that answers is serving: there is nothing
 * it depends on.
 */
const serveHealth = (router: ConnectRouter): void => {
  router.service(Health, {
    check: ({ service }) => {
      if (!KNOWN.has(service)) throw new ConnectError("unknown service", Code.NotFound)
      return { status: ServingStatus.SERVING }
    },
    async *watch({ service }, call: HandlerContext) {
      yield { status: KNOWN.has(service) ? ServingStatus.SERVING : ServingStatus.SERVICE_UNKNOWN }
      await aborted(call.signal)
    }
  })
}

/** Another process listens there already. */
export class AddressInUse extends Data.TaggedError("AddressInUse")<{ readonly host: string; readonly port: number }> {
  override get message() {
    return `${this.host}:${this.port} is already in use`
  }
}

/** Listening failed for another reason: an unknown host, a port that needs privileges. */
export class ListenFailed extends Data.TaggedError("ListenFailed")<{
  readonly host: string
  readonly port: number
  readonly cause: Error
}> {
  override get message() {
    return `cannot listen on ${this.host}:${this.port}: ${this.cause.message}`
  }
}

export interface Listener {
  /** `host:port`. */
  readonly address: string
  /** Cuts every connection without a word, and goes on listening. */
  readonly disconnect: Effect.Effect<void>
  readonly stop: Effect.Effect<void>
  /** Bytes received so far over all connections. */
  readonly received: () => number
}

/** Bytes of a request around its payload (docs/internals/runtime.md#encoding). */
const ENVELOPE_OVERHEAD_BYTES = 65_536

/**
 * Megabytes of HTTP/2 state per connection. A connection above it refuses all further calls, and a frame that its
 * receiver does not take counts for a while: with Node's own 10, one oversized frame would make a client blind to all
 * its sessions.
 */
const SESSION_MEMORY_MB = 1_024

/** An unknown RPC is a status of gRPC: clients take a 404 of HTTP for a server that does not speak it. */
const unimplemented: NonNullable<Parameters<typeof connectNodeAdapter>[0]["fallback"]> = (_request, response) => {
  response.writeHead(200, {
    "content-type": "application/grpc",
    "grpc-status": String(Code.Unimplemented),
    "grpc-message": "unknown RPC"
  })
  response.end()
}

/** Serves the handlers over HTTP/2 without TLS until the scope closes. `onCall` runs at the beginning of each call. */
export const listen = (
  handlers: Partial<ServiceImpl<typeof MACPRuntimeService>>,
  options: SandboxOptions,
  onCall: () => void = () => undefined
): Effect.Effect<Listener, AddressInUse | ListenFailed, Scope.Scope> =>
  Effect.acquireRelease(open(handlers, options, onCall), ({ stop }) => stop)

const open = (
  handlers: Partial<ServiceImpl<typeof MACPRuntimeService>>,
  options: SandboxOptions,
  onCall: () => void
): Effect.Effect<Listener, AddressInUse | ListenFailed> =>
  Effect.callback((resume) => {
    const shutdown = new AbortController()
    const connections = new Set<ServerHttp2Session>()
    const server = createServer(
      { settings: { maxConcurrentStreams: options.maxConcurrentStreams }, maxSessionMemory: SESSION_MEMORY_MB },
      connectNodeAdapter({
        routes: (router) => serveHealth(router.service(MACPRuntimeService, handlers)),
        grpc: true,
        grpcWeb: false,
        connect: false,
        // All clients are on the same machine: compression would only cost time.
        acceptCompression: [],
        readMaxBytes: options.maxPayloadBytes + ENVELOPE_OVERHEAD_BYTES,
        fallback: unimplemented,
        shutdownSignal: shutdown.signal
      })
    )
    const sockets = new Set<Socket>()
    let closedBytes = 0
    server.on("connection", (socket) => {
      sockets.add(socket)
      socket.once("close", () => {
        sockets.delete(socket)
        closedBytes += socket.bytesRead
      })
    })
    server.on("stream", onCall)
    server.on("session", (session) => {
      connections.add(session)
      session.once("close", () => connections.delete(session))
    })
    server.on("error", (cause: NodeJS.ErrnoException) => {
      const { host, port } = options
      const failure =
        cause.code === "EADDRINUSE" ? new AddressInUse({ host, port }) : new ListenFailed({ host, port, cause })
      resume(Effect.fail(failure))
    })
    server.listen(options.port, options.host, () => {
      const bound = server.address()
      const port = bound === null || typeof bound === "string" ? options.port : bound.port
      const address = `${options.host}:${port}`
      const disconnect = Effect.sync(() => destroyAll(connections))
      const received = () => [...sockets].reduce((sum, { bytesRead }) => sum + bytesRead, closedBytes)
      resume(Effect.succeed({ address, disconnect, received, stop: close(server, connections, shutdown) }))
    })
  })

/** Ends the streams, then cuts the connections: a stream that is still read would keep the server open for ever. */
const close = (
  server: Http2Server,
  connections: ReadonlySet<ServerHttp2Session>,
  shutdown: AbortController
): Effect.Effect<void> =>
  Effect.callback((resume) => {
    shutdown.abort()
    if (!server.listening) return resume(Effect.void)
    server.close(() => resume(Effect.void))
    // One turn of the event loop lets the handlers of open streams answer before their connection goes.
    setImmediate(() => destroyAll(connections))
  })

const destroyAll = (connections: ReadonlySet<ServerHttp2Session>): void => {
  for (const connection of connections) connection.destroy()
}
