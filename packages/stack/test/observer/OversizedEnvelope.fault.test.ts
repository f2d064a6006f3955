import { randomUUID } from "node:crypto"
import { assert, it } from "@effect/vitest"
import { Sandbox, SandboxFaults } from "@runplane/sandbox"
import * as Effect from "effect/Effect"
import { Dice } from "./support/Dice.ts"
import { MAX_FRAME_BYTES } from "./support/FaultMix.ts"
import { layerObservedStack } from "./support/ObservedStack.ts"
import { awaitEnd, awaitEvent, envelopeOf, postRun, startPayload } from "./support/PlayedSession.ts"
import { LEAD, plainScript } from "./support/SessionScript.ts"
import { assertConverged, exportOf } from "./support/Verdict.ts"

const MODE = "macp.mode.task.v1"

// docs/internals/runtime.md#oversized
it.live("keeps the decision behind an envelope that is too large, and marks the missing one", () =>
  Effect.gen(function* () {
    const sandbox = yield* Sandbox
    const sessionId = randomUUID()
    const said = plainScript(MODE, new Dice(5)).steps.flatMap((step) => (step.kind === "say" ? [step] : []))
    const start = { sender: LEAD, messageType: "SessionStart", payload: startPayload(600_000) }
    const session = [start, ...said].map(({ sender, ...message }, position) => ({
      ...envelopeOf(sessionId, MODE, `m${position + 1}`, message),
      sender
    }))
    const fault = { kind: "oversize", sessionId, bytes: MAX_FRAME_BYTES, messageType: "TaskAccept" } as const
    yield* (yield* SandboxFaults).inject(fault)
    yield* postRun(sessionId, { mode: MODE, ttlMs: 600_000 })
    yield* awaitEvent(sessionId, "run.started")
    for (const envelope of session) {
      const ack = yield* sandbox.submit({ ...envelope, sender: "" }, envelope.sender)
      assert.isTrue(ack.ok, ack.error?.message)
    }
    yield* awaitEnd(sessionId)

    const bundle = yield* exportOf(sessionId)
    assertConverged({ sessionId, history: session, signals: [], ending: "RESOLVED" }, bundle, { loses: "payloads" }, [])
    const noted = bundle.canonicalEvents.flatMap(({ recorded: { data }, type }) =>
      type === "session.stream.opened" ? [`${data["status"]} ${data["detail"] ?? ""}`] : []
    )
    const gaps = noted.filter((note) => note.startsWith("gap"))
    assert.lengthOf(gaps, 1)
    assert.match(gaps[0] ?? "", /not stored: a message of 65\d\d\d bytes is .* RUNTIME_MAX_RECEIVE_MESSAGE_BYTES/)
    assert.isAtMost(noted.filter((note) => note.startsWith("reconnecting")).length, 4)
    assert.isTrue(bundle.canonicalEvents.some(({ type }) => type === "decision.finalized"))
  }).pipe(Effect.provide(layerObservedStack()), Effect.scoped)
)
