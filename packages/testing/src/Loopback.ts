import type { Server as HttpServer } from "node:http"
import { connect, createServer, type Server } from "node:net"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"

/** Listens with an HTTP server on a free port of the loopback until the scope closes; returns the port. */
export const listening = (server: HttpServer) => onLoopback(server, () => server.closeAllConnections())

/** The same for any server; `closeConnections` ends those that are open when the scope closes. */
export const onLoopback = (
  server: Pick<Server, "listen" | "address" | "close">,
  closeConnections: () => void = () => {}
): Effect.Effect<number, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<number>((resume) => {
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0))
      })
    }),
    () =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        closeConnections()
      })
  )

/** Listens on a free port of the loopback until the scope closes, and never answers a client. */
export const listenAnywhere = Effect.suspend(() =>
  onLoopback(createServer((socket) => socket.on("error", () => {}).resume()))
)

/** Below the ports that systems give to outgoing connections. */
const LOWEST_PORT = 15_000
const HIGHEST_PORT = 32_000

/** A port with a listener until the scope closes; it fails when the port is taken. */
const listenOn = (port: number) =>
  Effect.acquireRelease(
    Effect.callback<Server, Error>((resume) => {
      const server = createServer()
      server.once("error", (error) => resume(Effect.fail(error)))
      server.listen(port, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.callback<void>((closed) => void server.close(() => closed(Effect.void)))
  ).pipe(Effect.as(port))

const freePort = Random.nextIntBetween(LOWEST_PORT, HIGHEST_PORT).pipe(Effect.flatMap(listenOn), Effect.eventually)

/**
 * Ports that were free a moment ago, all different. No outgoing connection takes one of them while a program that uses
 * it is stopped and started again.
 */
export const freePorts = (count: number): Effect.Effect<ReadonlyArray<number>> =>
  Effect.scoped(Effect.all(Array.from({ length: count }, () => freePort)))

/** Connects and sends nothing, until the scope closes. */
export const connectSilently = (port: number) =>
  Effect.acquireRelease(
    Effect.callback<() => void>((resume) => {
      const socket = connect({ host: "127.0.0.1", port }, () => resume(Effect.succeed(() => socket.destroy())))
      // The other end is expected to cut it.
      socket.on("error", () => {})
    }),
    (close) => Effect.sync(close)
  )
