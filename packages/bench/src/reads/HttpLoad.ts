import { connect, type Socket } from "node:net"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { type Spread, spreadOf } from "../Statistics.ts"

/** An answer that is not the one that is measured. */
export class WrongAnswer extends Data.TaggedError("WrongAnswer")<{ readonly reason: string }> {
  override get message(): string {
    return `GET failed: ${this.reason}`
  }
}

export interface LoadFound {
  readonly perSecond: number
  readonly millis: Spread
  /** Of the last answer. */
  readonly body: Buffer
}

const NANOS_PER_MILLI = 1e6
const MILLIS_PER_SECOND = 1_000
const END_OF_HEAD = "\r\n\r\n"
const LENGTH = /\r\ncontent-length: (\d+)/i

/**
 * GETs over kept connections, on each one after the other, for some seconds; `path` gets the number of each
 * request. The client is minimal: it shares the machine with the service that it measures.
 */
export const load = Effect.fn("HttpLoad.load")(function* (options: {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly path: (request: number) => string
  readonly connections: number
  readonly seconds: number
}) {
  const clock = yield* Clock.Clock
  const { hostname, port } = new URL(options.url)
  const headers = Object.entries(options.headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const lines = ` HTTP/1.1\r\nhost: ${hostname}:${port}\r\n${headers.join("")}\r\n`
  const millis: Array<number> = []
  let requests = 0
  let body = Buffer.alloc(0)
  const started = clock.monotonicTimeNanosUnsafe()
  const elapsed = () => Number(clock.monotonicTimeNanosUnsafe() - started) / NANOS_PER_MILLI
  const until = options.seconds * MILLIS_PER_SECOND

  const worker = Effect.callback<void, WrongAnswer>((resume) => {
    const socket: Socket = connect(Number(port), hostname)
    let parts: Array<Buffer> = []
    let missing = 0
    let sent = 0
    const fail = (reason: string) => {
      resume(Effect.fail(new WrongAnswer({ reason })))
      socket.destroy()
    }
    const send = () => {
      sent = elapsed()
      missing = -1
      parts = []
      socket.write(`GET ${options.path(requests++)}${lines}`)
    }
    socket.setNoDelay(true)
    socket.once("connect", send)
    socket.once("error", ({ message }) => fail(message))
    socket.on("data", (data) => {
      parts.push(data)
      if (missing < 0) {
        const all = parts.length === 1 ? data : Buffer.concat(parts)
        const end = all.indexOf(END_OF_HEAD)
        if (end < 0) return
        const head = all.toString("latin1", 0, end)
        const length = LENGTH.exec(head)?.[1]
        if (!head.startsWith("HTTP/1.1 200") || length === undefined) return fail(head.slice(0, 200))
        parts = [all.subarray(end + END_OF_HEAD.length)]
        missing = Number(length) - (parts[0]?.length ?? 0)
      } else missing -= data.length
      if (missing > 0) return
      const now = elapsed()
      millis.push(now - sent)
      if (now < until) return send()
      body = Buffer.concat(parts)
      socket.end()
      resume(Effect.void)
    })
    return Effect.sync(() => socket.destroy())
  })
  yield* Effect.all(
    Array.from({ length: options.connections }, () => worker),
    { concurrency: "unbounded", discard: true }
  )
  const found: LoadFound = {
    perSecond: (millis.length / elapsed()) * MILLIS_PER_SECOND,
    millis: spreadOf(millis),
    body
  }
  return found
})
