import { connect } from "node:net"
import * as Effect from "effect/Effect"
import type { EventStream, StreamTarget } from "../EventStream.ts"
import { EventCounter } from "../FrameScanner.ts"
import { makeStreamProgress } from "../StreamProgress.ts"

const READ_BYTES = 256 * 1024
/** One for all sockets: what is in it has been counted when the next one reads. */
const buffer = Buffer.allocUnsafe(READ_BYTES)
const ACCEPTED = "HTTP/1.1 200 "

/**
 * Follows an event stream until the scope closes and only counts. As little of a client as can be, so that it shares
 * the machine with what is measured: the service writes whole frames, so no piece of the transfer coding lies within
 * the line that is counted.
 */
export const countEvents = Effect.fnUntraced(function* ({ headers, url }: StreamTarget, path: string) {
  const { host, hostname, port } = new URL(url)
  const progress = yield* makeStreamProgress
  const counter = new EventCounter()
  let bytes = 0

  const receive = (length: number) => {
    const chunk = buffer.subarray(0, length)
    if (bytes === 0) {
      const status = chunk.toString("latin1", 0, ACCEPTED.length)
      if (status === ACCEPTED) progress.open()
      else progress.broken(status)
    }
    bytes += length
    counter.push(chunk)
    progress.reach(counter.events)
    return true
  }
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      const socket = connect({ host: hostname, port: Number(port), onread: { buffer, callback: receive } })
      socket.on("error", ({ message }) => progress.broken(message))
      socket.once("end", () => progress.broken("it ended"))
      const fields = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
      socket.write(`GET ${path} HTTP/1.1\r\n${fields.join("")}\r\n`)
      return socket
    }),
    (socket) => Effect.sync(() => socket.destroy())
  )
  yield* progress.opened
  return { brought: progress.brought, bytes: () => bytes } satisfies EventStream
})
