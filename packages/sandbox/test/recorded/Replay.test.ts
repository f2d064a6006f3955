import { assert, describe, it } from "@effect/vitest"
import { SessionState } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { Kernel } from "../../src/kernel/Kernel.ts"
import { ModeRegistry } from "../../src/kernel/ModeRegistry.ts"
import { PolicyRegistry } from "../../src/kernel/PolicyRegistry.ts"
import { replayBundle } from "../../src/recorded/Replay.ts"
import { DEFAULT_OPTIONS } from "../../src/SandboxOptions.ts"
import { envelope, proposal, SESSION, startPayload } from "../support/Envelopes.ts"

const event = (ts: string, type: string, id: string, payload: Uint8Array) => {
  const { macpVersion, messageId, messageType, mode, sessionId } = envelope(type, id, payload)
  const payloadBase64 = Buffer.from(payload).toString("base64")
  const sent = { macpVersion, messageId, messageType, mode, sessionId, sender: "agent://lead", timestampUnixMs: 1 }
  return { ts, kind: "stream-envelope", payload: { ambient: false, envelope: { ...sent, payloadBase64 } } }
}

const bundle = {
  rawEvents: [
    event("2026-03-01T00:00:00.000Z", "SessionStart", "m1", startPayload({ ttlMs: 1_000n })),
    event("2026-03-01T00:00:10.000Z", "Proposal", "m2", proposal("p1")),
    event("2026-03-01T00:01:00.000Z", "Proposal", "m3", proposal("p2"))
  ]
}

const kernel = Kernel.layer(DEFAULT_OPTIONS).pipe(
  Layer.provide([PolicyRegistry.layer(DEFAULT_OPTIONS.release), ModeRegistry.layer])
)

const changed = (ts: string, state: string) => ({
  ts,
  type: "session.state.changed",
  data: { sessionId: SESSION, state }
})

describe("a replay", () => {
  it.effect("pauses and ends the session as the control plane's events of the run say", () =>
    Effect.gen(function* () {
      const live = yield* Kernel
      const states = [
        "2026-03-01T00:00:20.000Z SUSPENDED",
        "2026-03-01T00:00:30.000Z OPEN",
        "2026-03-01T00:01:10.000Z CANCELLED"
      ]
      const canonicalEvents = [
        { ts: "2026-03-01T00:00:00.000Z", type: "run.created", data: {} },
        changed("2026-03-01T00:00:00.000Z", "OPEN"),
        ...states.map((line) => changed(line.slice(0, 24), line.slice(25)))
      ]
      yield* Effect.forkChild(replayBundle(live, { ...bundle, canonicalEvents }, {}), { startImmediately: true })
      const seen: Array<unknown> = []
      for (const seconds of [15, 10, 10, 30, 10]) {
        yield* TestClock.adjust(`${seconds} seconds`)
        const session = live.find(SESSION)
        seen.push([session?.state, session?.log.end])
      }
      assert.deepStrictEqual(seen, [
        [SessionState.OPEN, 2],
        [SessionState.SUSPENDED, 2],
        [SessionState.OPEN, 2],
        [SessionState.OPEN, 3],
        [SessionState.CANCELLED, 3]
      ])
    }).pipe(Effect.provide(kernel))
  )

  it.effect("keeps the pauses of the recording, divided by its speed, and never expires by itself", () =>
    Effect.gen(function* () {
      const live = yield* Kernel
      const playing = yield* Effect.forkChild(replayBundle(live, bundle, { speed: 10 }), { startImmediately: true })
      const accepted = () => live.find(SESSION)?.log.end
      assert.strictEqual(accepted(), 1)
      yield* TestClock.adjust(999)
      assert.strictEqual(accepted(), 1)
      yield* TestClock.adjust(1)
      assert.strictEqual(accepted(), 2)
      yield* TestClock.adjust(5_000)
      assert.strictEqual((yield* Fiber.join(playing)).envelopes, 3)
      assert.isFalse(live.find(SESSION)?.isTerminal)
    }).pipe(Effect.provide(kernel))
  )
})
