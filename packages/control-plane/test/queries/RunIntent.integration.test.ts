import { assert, layer } from "@effect/vitest"
import { draftEvent } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { EventLog } from "../../src/event-log/EventLog.ts"
import { messageDraft } from "../support/Appends.ts"
import { call, layerTestService } from "../support/HttpService.ts"
import { createRun } from "../support/Runs.ts"

const opening = (intent: string) =>
  draftEvent(
    "message.received",
    {
      ts: "2026-07-01T10:00:00.000Z",
      subject: { kind: "message", id: "m1" },
      source: { kind: "runtime", name: "rust-runtime", rawType: "SessionStart" }
    },
    { messageType: "SessionStart", messageId: "m1", sender: "agent://lead", payload: { intent } }
  )

layer(layerTestService(), { excludeTestServices: true })("what a session is for", (it) => {
  it.effect("is in the state of the run and in lists, from its first message on", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const named = yield* createRun()
      const unnamed = yield* createRun()
      yield* log.record({ runId: named, events: [opening("pick a plan")] })
      yield* log.record({ runId: named, events: [messageDraft(2)] })
      yield* log.record({ runId: unnamed, events: [messageDraft(1)] })
      const { data } = (yield* call("GET", "/runs?limit=10")).body
      const listed = (id: string) => data.find((run: { readonly id: string }) => run.id === id)
      assert.strictEqual(listed(named).intent, "pick a plan")
      assert.notProperty(listed(unnamed), "intent")
      assert.strictEqual((yield* call("GET", `/runs/${named}/state`)).body.run.intent, "pick a plan")
      assert.notProperty((yield* call("GET", `/runs/${unnamed}/state`)).body.run, "intent")
    })
  )
})
