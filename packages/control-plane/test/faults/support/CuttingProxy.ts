import { createServer, connect as openSocket, type Socket } from "node:net"
import { onLoopback } from "@runplane/testing"
import * as Effect from "effect/Effect"

/** What becomes of a piece that passes by: it goes on, or the connection breaks before or after it has gone on. */
export type Verdict = "pass" | "cut-before" | "cut-after"
export type Judge = (from: "client" | "server", piece: Buffer) => Verdict

export type CuttingProxy = Effect.Success<ReturnType<typeof cuttingProxy>>

/** The server's word that a transaction is committed: `CommandComplete` of a COMMIT. */
const COMMITTED = Buffer.from("C\0\0\0\u000bCOMMIT\0", "latin1")

export const saysCommitted = (from: "client" | "server", piece: Buffer): boolean =>
  from === "server" && piece.includes(COMMITTED)

/**
 * A PostgreSQL server behind a line that breaks when the judge says so. When it breaks, the client's side is gone at
 * once, while the server still does what it has got: as with a network that fails.
 */
export const cuttingProxy = Effect.fnUntraced(function* (url: string) {
  const target = new URL(url)
  const state: { judge: Judge; cuts: number } = { judge: () => "pass", cuts: 0 }
  const sockets = new Set<Socket>()

  const server = createServer((client) => {
    const upstream = openSocket(Number(target.port), target.hostname)
    const carry = (from: "client" | "server", source: Socket, sink: Socket) =>
      source.on("data", (piece: Buffer) => {
        if (client.destroyed) return
        const verdict = state.judge(from, piece)
        if (verdict !== "cut-before") sink.write(piece)
        if (verdict === "pass") return
        state.cuts += 1
        client.destroy()
        upstream.end()
      })
    carry("client", client, upstream)
    carry("server", upstream, client)
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client]
    ] as const) {
      sockets.add(socket)
      socket.on("error", () => {})
      socket.once("close", () => {
        sockets.delete(socket)
        if (socket === upstream) client.destroy()
        else other.end()
      })
    }
  })
  const port = yield* onLoopback(server, () => {
    for (const socket of sockets) socket.destroy()
  })
  const through = new URL(url)
  through.port = String(port)
  return {
    url: through.href,
    /** Connections that were broken. */
    cuts: () => state.cuts,
    judge: (judge: Judge) => {
      state.judge = judge
    },
    /** Breaks the next connection that fits, once. */
    cutOnce: (fits: (from: "client" | "server", piece: Buffer) => boolean, verdict: Verdict) => {
      let left = 1
      state.judge = (from, piece) => (left > 0 && fits(from, piece) && left-- > 0 ? verdict : "pass")
    }
  }
})
