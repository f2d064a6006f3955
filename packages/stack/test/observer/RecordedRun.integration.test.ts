import { randomUUID } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { type CanonicalEvent, RECEIPT_ARTIFACT } from "@runplane/domain"
import { Sandbox } from "@runplane/sandbox"
import * as Effect from "effect/Effect"
import { Dice } from "./support/Dice.ts"
import { Documents, layerObservedStack } from "./support/ObservedStack.ts"
import { awaitEnd, playSession, postRun } from "./support/PlayedSession.ts"
import { ATTACHED, plainScript, type SessionScript, type Step } from "./support/SessionScript.ts"
import { assertSound, type Bundle, exportOf } from "./support/Verdict.ts"

/** Long enough, at half the speed, for the second run to be bound before its session is suspended. Milliseconds. */
const BEGINNING_MS = 500
const SPEED = 0.5

const signal: Step = { kind: "signal", sender: "agent://risk" }

/** A session with all that is not on its stream: signals, a suspension, and, if it is cancelled, its end. */
const eventful = (mode: Parameters<typeof plainScript>[0], ending: "RESOLVED" | "CANCELLED"): SessionScript => {
  const plain = plainScript(mode, new Dice(3))
  const kept = ending === "RESOLVED" ? plain.steps : plain.steps.slice(0, 2)
  const beginning: ReadonlyArray<Step> = [
    ATTACHED,
    { kind: "pause", ms: BEGINNING_MS },
    signal,
    { kind: "suspend" },
    { kind: "seen", type: "run.suspended" },
    { kind: "resume" },
    { kind: "seen", type: "run.resumed" }
  ]
  return { ...plain, ending, steps: [...beginning, ...kept.flatMap((step) => [signal, step])] }
}

/** What may differ between two runs of the same session, wherever it stands. */
const PASSING =
  /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32}|\d{4}-\d\d-\d\dT[\d:.]+Z|\b1[789]\d{11}\b/g

const lineOf = ({ recorded: { data }, source, subject, type }: CanonicalEvent): string =>
  JSON.stringify({ type, source, subject, data }).replaceAll(PASSING, "*")

/** Which stream an event came from; between two of them there is no order that a replay could keep. */
const laneOf = ({ recorded: { data }, source }: CanonicalEvent): string =>
  source?.kind !== "runtime" ? "life-cycle" : data["messageType"] === "Signal" ? "signals" : "session"

/**
 * The observer subscribes once more to a stream that ends before the end of the session was reported. That depends on
 * the load of the machine, not on the session.
 */
const isReconnecting = ({ recorded: { data }, type }: CanonicalEvent): boolean =>
  type === "session.stream.opened" && data["status"] === "reconnecting"

/** The receipt arrives after the end, so an export can be made before it. */
const isReceipt = (event: CanonicalEvent): boolean =>
  event.type === "artifact.created" && event.data.kind === RECEIPT_ARTIFACT

const lanesOf = ({ canonicalEvents }: Bundle) => {
  const others = canonicalEvents.filter((event) => !isReconnecting(event) && !isReceipt(event))
  return Object.fromEntries([...Map.groupBy(others, laneOf)].map(([lane, events]) => [lane, events.map(lineOf)]))
}

/** The payload of every frame as it is stored, in order; signals apart. */
const framesOf = ({ rawEvents }: Bundle) => {
  const texts = rawEvents.map(({ kind, payload }) => JSON.stringify({ kind, payload }))
  const isAmbient = (text: string) => text.includes(`"ambient":true`)
  return texts.filter((text) => !isAmbient(text)).map((text) => text.replaceAll(PASSING, "*"))
}

layer(layerObservedStack(), { excludeTestServices: true, timeout: "60 seconds" })("an exported run", (it) => {
  for (const [mode, ending] of [
    ["macp.mode.decision.v1", "RESOLVED"],
    ["macp.mode.task.v1", "CANCELLED"]
  ] as const) {
    it.effect(`that was ${ending} is observed again with the same log when the sandbox replays it`, () =>
      Effect.gen(function* () {
        const script = eventful(mode, ending)
        const [first, second] = [randomUUID(), randomUUID()]
        yield* postRun(first, script)
        yield* playSession(first, script)
        yield* awaitEnd(first)
        const recorded = yield* exportOf(first)

        const read = yield* Documents
        const bundle: unknown = JSON.parse(yield* read(`/runs/${first}/export?includeRaw=true`))
        yield* postRun(second, script)
        const sandbox = yield* Sandbox
        yield* sandbox.replayBundle(bundle, { sessionId: second, speed: SPEED })
        yield* awaitEnd(second)
        const replayed = yield* exportOf(second)

        assertSound(second, replayed)
        assert.strictEqual(replayed.run.status, recorded.run.status)
        assert.deepStrictEqual(lanesOf(replayed), lanesOf(recorded))
        assert.deepStrictEqual(framesOf(replayed), framesOf(recorded))
        assert.deepStrictEqual(replayed.metrics.totalTokens, recorded.metrics.totalTokens)
        assert.isAbove(recorded.metrics.estimatedCostUsd, 0)
        assert.strictEqual(replayed.metrics.estimatedCostUsd, recorded.metrics.estimatedCostUsd)
      })
    )
  }
})
