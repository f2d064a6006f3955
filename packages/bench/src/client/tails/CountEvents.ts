import { connect } from "node:net"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { type EventStream, StreamBroken, type StreamTarget } from "../EventStream.ts"
import { EventCounter } from "../FrameScanner.ts"

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
  const opened = yield* Deferred.make<void, StreamBroken>()
  const enough = yield* Deferred.make<void, StreamBroken>()
  const counter = new EventCounter()
  let bytes = 0
  let wanted = Number.POSITIVE_INFINITY

  const broken = (reason: string) => {
    const failure = Effect.fail(new StreamBroken({ reason }))
    Deferred.doneUnsafe(opened, failure)
    Deferred.doneUnsafe(enough, failure)
  }
  const receive = (length: number) => {
    const chunk = buffer.subarray(0, length)
    if (bytes === 0) {
      const status = chunk.toString("latin1", 0, ACCEPTED.length)
      if (status === ACCEPTED) Deferred.doneUnsafe(opened, Effect.void)
      else broken(status)
    }
    bytes += length
    counter.push(chunk)
    if (counter.events >= wanted) Deferred.doneUnsafe(enough, Effect.void)
    return true
  }
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      const socket = connect({ host: hostname, port: Number(port), onread: { buffer, callback: receive } })
      socket.on("error", ({ message }) => broken(message))
      socket.once("end", () => broken("it ended"))
      const fields = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
      socket.write(`GET ${path} HTTP/1.1\r\n${fields.join("")}\r\n`)
      return socket
    }),
    (socket) => Effect.sync(() => socket.destroy())
  )
  yield* Deferred.await(opened)

  const brought = (count: number) =>
    Effect.suspend(() => {
      wanted = count
      return counter.events >= count ? Effect.void : Deferred.await(enough)
    })
  return { brought, bytes: () => bytes } satisfies EventStream
})
