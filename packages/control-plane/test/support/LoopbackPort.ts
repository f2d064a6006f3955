import type { Server as HttpServer } from "node:http"
import type { Server } from "node:net"
import * as Effect from "effect/Effect"

/** Has an HTTP server listen on a free port of the loopback until the scope closes. */
export const listenOn = (server: HttpServer) => onLoopback(server, () => server.closeAllConnections())

/** The same for any server; `closeConnections` ends those that are open when the scope closes. */
export const onLoopback = (server: Server, closeConnections: () => void) =>
  Effect.acquireRelease(
    Effect.callback<number>((resume) => {
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0))
      })
    }),
    () =>
      Effect.sync(() => {
        closeConnections()
        server.close()
      })
  )
