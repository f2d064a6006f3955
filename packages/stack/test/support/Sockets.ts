import { connect, createServer } from "node:net"
import * as Effect from "effect/Effect"

/** Listens on a free port of the loopback until the scope closes. */
export const listenAnywhere = Effect.acquireRelease(
  Effect.callback<{ readonly port: number; readonly close: Effect.Effect<void> }>((resume) => {
    const server = createServer()
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      const close = Effect.callback<void>((closed) => {
        server.close(() => closed(Effect.void))
      })
      resume(Effect.succeed({ port, close }))
    })
  }),
  ({ close }) => close
)

/** Ports that were free a moment ago, all different. */
export const freePorts = (count: number) =>
  Effect.scoped(
    Effect.map(Effect.all(Array.from({ length: count }, () => listenAnywhere)), (list) => list.map(({ port }) => port))
  )

/** Connects and says nothing, until the scope closes. */
export const connectSilently = (port: number) =>
  Effect.acquireRelease(
    Effect.callback<() => void>((resume) => {
      const socket = connect({ host: "127.0.0.1", port }, () => resume(Effect.succeed(() => socket.destroy())))
      // The other end is expected to cut it.
      socket.on("error", () => {})
    }),
    (close) => Effect.sync(close)
  )
