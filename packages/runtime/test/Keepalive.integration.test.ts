import { constants, createServer, type Http2Session } from "node:http2"
import { assert, describe, it } from "@effect/vitest"
import { RuntimeClient, RuntimeCredentials } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import { GuardedSessionManager, Keepalive } from "../src/GuardedSessionManager.ts"
import { ANSWERED } from "./RawRuntime.ts"

/** A peer that answers every call with a stream that stays open; hands out the connections of these calls. */
const peer = Effect.gen(function* () {
  const connections = yield* Queue.unbounded<Http2Session>()
  const port = yield* Effect.acquireRelease(
    Effect.callback<readonly [number, ReturnType<typeof createServer>]>((resume) => {
      const server = createServer()
      server.on("sessionError", () => {})
      server.on("stream", (stream) => {
        stream.on("error", () => {})
        stream.respond(ANSWERED)
        if (stream.session !== undefined) Queue.offerUnsafe(connections, stream.session)
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        resume(Effect.succeed([typeof address === "object" && address !== null ? address.port : 0, server]))
      })
    }),
    ([, server]) => Effect.sync(() => server.close())
  ).pipe(Effect.map(([port]) => port))
  return { port, connection: Queue.take(connections) }
})

const sayTooManyPings = (connection: Http2Session, data = "too_many_pings") => {
  connection.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM, 0, Buffer.from(data))
  connection.destroy()
}

describe("the pings of the connections to a runtime", () => {
  it.live("become half as many for all of them when the peer says too_many_pings, once for each interval", () =>
    Effect.gen(function* () {
      const { connection, port } = yield* peer
      const widened = yield* Queue.unbounded<number>()
      const keepalive = new Keepalive(30_000, (intervalMs) => void Queue.offerUnsafe(widened, intervalMs))
      const managers = [1, 2].map(() => new GuardedSessionManager(`http://127.0.0.1:${port}`, { keepalive }))
      const open = Effect.forEach(managers, (manager) =>
        Effect.gen(function* () {
          const stream = yield* Effect.promise(() => manager.request("POST", "/", {}, {}))
          stream.on("error", () => {})
          const closed = new Promise<void>((resolve) => stream.on("close", resolve))
          return { peer: yield* connection, closed: Effect.promise(() => closed) }
        })
      )
      const refuse = Effect.fnUntraced(function* (data?: string) {
        const opened = yield* open
        for (const { peer } of opened) sayTooManyPings(peer, data)
        yield* Effect.forEach(opened, ({ closed }) => closed)
      })
      yield* refuse("something else")
      assert.strictEqual(keepalive.intervalMs, 30_000)
      yield* refuse()
      assert.strictEqual(yield* Queue.take(widened), 60_000)
      assert.strictEqual(keepalive.intervalMs, 60_000)
      yield* refuse()
      assert.strictEqual(yield* Queue.take(widened), 120_000)
      assert.strictEqual(keepalive.intervalMs, 120_000)
      for (const manager of managers) manager.abort()
    }).pipe(Effect.scoped)
  )

  it.live("are logged in one line", () =>
    Effect.gen(function* () {
      const { connection, port } = yield* peer
      const lines = yield* Queue.unbounded<string>()
      const collect = Logger.map(Logger.formatSimple, (line) => void Queue.offerUnsafe(lines, line))
      yield* Effect.gen(function* () {
        const client = yield* RuntimeClient
        yield* Effect.forkChild(
          Effect.flip(Stream.runDrain(client.streamSession({ sessionId: "s1", afterSequence: 0 })))
        )
        sayTooManyPings(yield* connection)
        assert.include(
          yield* Queue.take(lines),
          "the runtime wants fewer pings (too_many_pings): one every 60000 ms now"
        )
      }).pipe(
        Effect.provide(
          RuntimeClient.layerGrpc({ address: `127.0.0.1:${port}` }).pipe(Layer.provide(RuntimeCredentials.layerNone))
        ),
        Effect.provide(Logger.layer([collect]))
      )
    }).pipe(Effect.scoped)
  )
})
