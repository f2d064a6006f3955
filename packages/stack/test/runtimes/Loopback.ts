import { connect, createServer, type Socket } from "node:net"
import { onLoopback } from "@runplane/testing"
import * as Effect from "effect/Effect"

/** A way to a server on the loopback that can be cut. */
export interface Link {
  readonly address: string
  /** Cuts every connection that is open, as a failing network does. The next one is let through. */
  readonly cut: Effect.Effect<void>
}

/** Passes connections on to `host:port` until the scope closes. */
export const openLink = Effect.fnUntraced(function* (target: string) {
  const [host, port] = target.split(":")
  const open = new Set<Socket>()
  const keep = (socket: Socket) => {
    open.add(socket)
    socket.once("close", () => open.delete(socket))
    // A cut ends both halves with an error, which is expected.
    socket.on("error", () => {})
  }
  const server = createServer((near) => {
    const far = connect({ host, port: Number(port) })
    keep(near)
    keep(far)
    near.pipe(far).once("close", () => near.destroy())
    far.pipe(near).once("close", () => far.destroy())
  })
  const cutAll = () => {
    for (const socket of open) socket.destroy()
  }
  return { address: `127.0.0.1:${yield* onLoopback(server, cutAll)}`, cut: Effect.sync(cutAll) } satisfies Link
})
