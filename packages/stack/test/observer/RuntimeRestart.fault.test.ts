import { randomUUID } from "node:crypto"
import { assert, it } from "@effect/vitest"
import { ControlPlaneClient } from "@runplane/api"
import { CONTROL_PLANE_IDENTITY, type Envelope } from "@runplane/runtime"
import { Sandbox } from "@runplane/sandbox"
import { freePorts } from "@runplane/testing"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { Dice } from "./support/Dice.ts"
import { layerObserving } from "./support/ObservedStack.ts"
import { awaitEnd, awaitEvent, envelopeOf, PATIENCE, postRun, startPayload } from "./support/PlayedSession.ts"
import { LEAD, plainScript } from "./support/SessionScript.ts"
import { assertConverged, exportOf, linesOf } from "./support/Verdict.ts"

/** How long a runtime may take to know its sessions again. Milliseconds. */
const LOST_AFTER_MS = 2_000
const SETTINGS = {
  RUNTIME_CIRCUIT_BREAKER_THRESHOLD: "3",
  RUNTIME_CIRCUIT_BREAKER_RESET_MS: "300",
  SESSION_LOST_AFTER_MS: String(LOST_AFTER_MS)
}
const MODE = "macp.mode.task.v1"
/** Envelopes that the first runtime takes before it is killed. */
const BEFORE = 3
/** Time to live of the sessions. Milliseconds. */
const TTL_MS = 600_000
/** In the recording the rest of the session follows this much later. Milliseconds. */
const PAUSE_MS = 300

/** A sandbox on that port that can be killed: its connections are cut, and its sessions are gone with it. */
const startRuntime = Effect.fnUntraced(function* (port: number) {
  const scope = yield* Scope.make()
  const options = { port, sweepIntervalMs: 50, observers: [CONTROL_PLANE_IDENTITY] }
  const built = yield* Layer.buildWithScope(Layer.fresh(Sandbox.layer(options)), scope)
  return { sandbox: Context.get(built, Sandbox), kill: Scope.close(scope, Exit.void) }
})

/** All envelopes of one session, in order, with their senders. */
const sessionOf = (sessionId: string, ttlMs: number): ReadonlyArray<readonly [sender: string, envelope: Envelope]> => {
  const start = { sender: LEAD, messageType: "SessionStart", payload: startPayload(ttlMs) }
  const said = plainScript(MODE, new Dice(5)).steps.flatMap((step) => (step.kind === "say" ? [step] : []))
  return [start, ...said].map(({ sender, ...message }, index) => [
    sender,
    { ...envelopeOf(sessionId, MODE, `m${index + 1}`, message), sender }
  ])
}

/** The session as a run bundle: what had been accepted at once, the rest a moment later. */
const recordingOf = (session: ReturnType<typeof sessionOf>) => ({
  rawEvents: session.map(([, { payload, timestampUnixMs: _, ...envelope }], index) => ({
    ts: new Date(index < BEFORE ? 0 : PAUSE_MS * (index - BEFORE + 1)).toISOString(),
    kind: "stream-envelope",
    payload: {
      ambient: false,
      envelope: { ...envelope, timestampUnixMs: 0, payloadBase64: Buffer.from(payload).toString("base64") }
    }
  }))
})

/** Time between two reads of the circuit breaker, which sends no notifications. */
const POLL_INTERVAL = "20 millis"

/** Waits until the circuit has entered that state again, and answers all states it has entered. */
const awaitCircuit = Effect.fnUntraced(
  function* (awaited: string) {
    const { api } = yield* ControlPlaneClient
    while (true) {
      const { history, state } = yield* api.admin.circuitBreakerHistory({ query: {} })
      if (state === awaited) return history.map((entry) => entry.state)
      yield* Effect.sleep(POLL_INTERVAL)
    }
  },
  Effect.timeout(PATIENCE),
  Effect.orDie
)

/** A run of which the first part has been seen when its runtime is killed, and the circuit has opened. */
const runUntilTheKill = Effect.fnUntraced(function* (port: number, sessionId: string, ttlMs: number) {
  const session = sessionOf(sessionId, ttlMs)
  const { kill, sandbox } = yield* startRuntime(port)
  yield* postRun(sessionId, { mode: MODE, ttlMs })
  for (const [sender, envelope] of session.slice(0, BEFORE)) {
    const { ok } = yield* sandbox.submit({ ...envelope }, sender)
    assert.isTrue(ok)
  }
  yield* awaitEvent(sessionId, "message.received", ({ messageId }) => messageId === `m${BEFORE}`)
  yield* kill
  yield* awaitCircuit("OPEN")
  return session
})

/** The next call closes the circuit without a reset, and new runs are observed. */
const assertServiceRecovered = Effect.gen(function* () {
  const runId = randomUUID()
  yield* postRun(runId, { mode: MODE, ttlMs: TTL_MS })
  yield* awaitEvent(runId, "run.started")
  assert.includeMembers(yield* awaitCircuit("CLOSED"), ["OPEN", "HALF_OPEN"])
})

const withControlPlane = <A, E, R>(test: (port: number) => Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const [port = 0] = yield* freePorts(1)
    return yield* Effect.provide(test(port), layerObserving(`127.0.0.1:${port}`, SETTINGS))
  })

it.live("continues at its position when its runtime restarts with its history", () =>
  withControlPlane((port) =>
    Effect.gen(function* () {
      const sessionId = randomUUID()
      const session = yield* runUntilTheKill(port, sessionId, TTL_MS)
      const { kill, sandbox } = yield* startRuntime(port)
      yield* sandbox.replayBundle(recordingOf(session))
      yield* awaitEnd(sessionId)
      yield* assertServiceRecovered
      const history = session.map(([, envelope]) => envelope)
      const bundle = yield* exportOf(sessionId)
      assertConverged({ sessionId, history, signals: [], ending: "RESOLVED" }, bundle, {}, [])
      yield* kill
    })
  )
)

it.live("fails the run of a session that its runtime has forgotten, and not while the runtime is away", () =>
  withControlPlane((port) =>
    Effect.gen(function* () {
      const sessionId = randomUUID()
      const session = yield* runUntilTheKill(port, sessionId, TTL_MS)
      yield* Effect.sleep(LOST_AFTER_MS)
      const begun = Date.now()
      const { kill } = yield* startRuntime(port)
      yield* awaitEnd(sessionId)
      const bundle = yield* exportOf(sessionId)
      const failed = bundle.canonicalEvents.at(-1)
      assert.strictEqual(failed?.type, "run.failed")
      assert.strictEqual(failed?.recorded.data["errorCode"], "SESSION_LOST")
      assert.isAtLeast(Date.parse(failed?.ts ?? ""), begun + LOST_AFTER_MS)
      assert.deepStrictEqual(
        linesOf(bundle).lines.map(({ messageId }) => messageId),
        session.slice(0, BEFORE).map(([, { messageId }]) => messageId)
      )
      yield* assertServiceRecovered
      yield* kill
    })
  )
)
