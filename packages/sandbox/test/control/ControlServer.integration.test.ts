import { create } from "@bufbuild/protobuf"
import { assert, describe, it } from "@effect/vitest"
import { WatchSessionsRequestSchema } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ControlServer } from "../../src/control/ControlServer.ts"
import { Sandbox } from "../../src/Sandbox.ts"
import { connect, lead, observer, subscribe, verdictOf } from "../support/Calls.ts"
import { envelope, SESSION, startPayload } from "../support/Envelopes.ts"

const controlled = ControlServer.layer({ host: "127.0.0.1", port: 0 }).pipe(
  Layer.provideMerge(Sandbox.layer({ port: 0, observers: [observer] }))
)

/** Calls the control interface: status and decoded body. */
const call = (method: string, path: string, body?: unknown) =>
  Effect.flatMap(ControlServer, ({ address }) =>
    Effect.promise(async () => {
      const init =
        body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }
      const answer = await fetch(`http://${address}${path}`, { method, ...init })
      const text = await answer.text()
      return { status: answer.status, body: text === "" ? undefined : JSON.parse(text) }
    })
  )

describe("the control interface", () => {
  it.live("puts faults in force, lists them and takes them back", () =>
    Effect.gen(function* () {
      const fault = { kind: "delay", delayMs: 5, messageType: "Vote" }
      assert.deepStrictEqual(yield* call("POST", "/faults", fault), { status: 201, body: { id: 1 } })
      assert.deepStrictEqual((yield* call("GET", "/faults")).body, [{ id: 1, fault, hits: 0 }])
      assert.strictEqual((yield* call("DELETE", "/faults/1")).status, 204)
      assert.strictEqual((yield* call("DELETE", "/faults/1")).status, 404)
      yield* call("POST", "/faults", { kind: "refuse" })
      assert.strictEqual((yield* call("DELETE", "/faults")).status, 204)
      assert.deepStrictEqual((yield* call("GET", "/faults")).body, [])
    }).pipe(Effect.provide(controlled))
  )

  it.live("refuses a malformed fault with the reason", () =>
    Effect.gen(function* () {
      for (const broken of [{ kind: "explode" }, { kind: "delay", delayMs: -1 }, { kind: "drop", session: "s" }]) {
        const { body, status } = yield* call("POST", "/faults", broken)
        assert.strictEqual(status, 400)
        assert.isString(body.message)
      }
      assert.strictEqual((yield* call("DELETE", "/faults/first")).status, 400)
    }).pipe(Effect.provide(controlled))
  )

  it.live("compacts a history, replays a bundle and cuts connections", () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const client = yield* connect(sandbox.address)
      assert.strictEqual((yield* call("POST", `/sessions/${SESSION}/compact`)).status, 404)
      const bundle = { rawEvents: [rawStart] }
      const replayed = { sessionId: SESSION, envelopes: 1, signals: 0 }
      assert.deepStrictEqual(yield* call("POST", "/replays", { bundle, speed: 100 }), { status: 200, body: replayed })
      assert.strictEqual((yield* call("POST", "/replays", { bundle })).status, 409)
      assert.strictEqual((yield* call("POST", "/replays", { bundle: {} })).status, 400)
      assert.strictEqual((yield* call("POST", `/sessions/${SESSION}/compact`)).status, 204)
      const stream = client.session(observer)
      stream.write(subscribe(SESSION))
      assert.include((yield* Effect.promise(() => stream.frames.status)).details, "was compacted")
      const live = client.watch("watchSessions", create(WatchSessionsRequestSchema), observer)
      yield* Effect.promise(() => live.frames.next())
      assert.strictEqual((yield* call("POST", "/disconnect")).status, 204)
      yield* Effect.promise(() => live.frames.status)
      const other = yield* connect(sandbox.address)
      const again = envelope("SessionStart", "other", startPayload())
      assert.strictEqual(yield* Effect.promise(() => verdictOf(other, again, lead)), "SESSION_ALREADY_EXISTS")
    }).pipe(Effect.provide(controlled))
  )
})

const start = envelope("SessionStart", "m1", startPayload())

const rawStart = {
  ts: "2026-03-01T00:00:00.000Z",
  kind: "stream-envelope",
  payload: {
    ambient: false,
    envelope: {
      macpVersion: "1.0",
      mode: start.mode,
      messageType: "SessionStart",
      messageId: "m1",
      sessionId: SESSION,
      sender: lead,
      timestampUnixMs: 1,
      payloadBase64: Buffer.from(start.payload).toString("base64")
    }
  }
}
