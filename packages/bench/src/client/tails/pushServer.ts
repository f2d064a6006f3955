import { createServer, type Socket } from "node:net"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { serveParent } from "../../process/ParentLink.ts"
import { stampOf } from "../../runtime/History.ts"
import { PushCommand, type PushReply } from "./TailProtocol.ts"

const HEAD =
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\nevent: heartbeat\ndata: {}\n\n"
const NANOS_PER_SECOND = 1e9
const NANOS_PER_MICRO = 1e3

/** A frame of an event of so many bytes, or a few more, which says when it was made. */
const frame = (bytes: number, micros: number): string => {
  const begin = `event: canonical_event\ndata: ${stampOf(micros)} `
  return `${begin}${"x".repeat(Math.max(0, bytes - begin.length - 2))}\n\n`
}

/** Pushes frames to every connection and does nothing else: what is left of an event stream without a service. */
const program = Effect.gen(function* () {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    socket.setNoDelay(true)
    socket.on("error", () => socket.destroy())
    socket.once("close", () => sockets.delete(socket))
    socket.once("data", () => {
      socket.resume()
      socket.write(HEAD)
      sockets.add(socket)
    })
  })
  const port = yield* Effect.callback<number>((resume) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0))
    })
  })
  const push = Effect.fnUntraced(function* ({ frameBytes, frames, perSecond }: PushCommand) {
    const started = yield* Clock.monotonicTimeNanos
    for (let made = 0; made < frames; ) {
      const now = yield* Clock.monotonicTimeNanos
      const due = Math.min(frames, 1 + Math.floor((Number(now - started) / NANOS_PER_SECOND) * perSecond))
      if (due > made) {
        const bytes = Buffer.from(frame(frameBytes, Number(now) / NANOS_PER_MICRO).repeat(due - made))
        for (const socket of sockets) socket.write(bytes)
      }
      made = due
      if (made < frames) yield* Effect.sleep("1 millis")
    }
    return { _tag: "Pushed" } satisfies PushReply
  })
  const greeting: PushReply = { _tag: "Listening", port }
  yield* serveParent<PushCommand, PushReply, never, never>({ greeting, command: PushCommand, answer: push })
  yield* Effect.sync(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
})

NodeRuntime.runMain(program)
