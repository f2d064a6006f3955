import type { Server as HttpServer } from "node:http"
import { connect, createServer, type Server } from "node:net"
import * as Effect from "effect/Effect"
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

/** Ports that were free a moment ago, all different. */
export const freePorts = (count: number): Effect.Effect<ReadonlyArray<number>> =>
  Effect.scoped(Effect.all(Array.from({ length: count }, () => listenAnywhere)))

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
