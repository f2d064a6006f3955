import { assert, layer } from "@effect/vitest"
import type { RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ObservedFrame } from "../../src/event-log/append/AppendRequest.ts"
import { observed } from "../../src/event-log/append/FrameBytes.ts"
import { EventLog } from "../../src/event-log/EventLog.ts"
import { RunDocuments } from "../../src/queries/runs/RunDocuments.ts"
import { layerTestLog } from "../support/ControlPlane.ts"
import { contribution } from "../support/Envelopes.ts"
import { assertLogIsExact } from "../support/LogChecks.ts"
import { createRun } from "../support/Runs.ts"
import { layerTestDatabase } from "../support/TestDatabase.ts"

const RECEIVED_AT = "2026-07-01T10:00:01.000Z"

const envelope = (runId: RunId, messageId: string) => contribution(runId, messageId, RECEIVED_AT)

const refusal = (runId: RunId, messageId: string): ObservedFrame =>
  observed(
    {
      kind: "stream-inline-error",
      error: { code: "POLICY_DENIED", message: "not yet", sessionId: runId, messageId, details: new Uint8Array() }
    },
    RECEIVED_AT
  )

const listed = Effect.fnUntraced(function* (runId: RunId) {
  const documents = yield* RunDocuments
  const { rows } = yield* documents.messages(runId, 0, 1_000)
  return rows.map(({ json }): { readonly messageId: string; readonly status: string } => JSON.parse(json))
})

layer(RunDocuments.layer.pipe(Layer.provideMerge(layerTestLog), Layer.provideMerge(layerTestDatabase)))(
  "outbound messages",
  (it) => {
    for (const [runs, messages] of [
      [1, 4],
      [4, 4],
      [4, 40]
    ] as const) {
      it.effect(`keep their order in a transaction of ${runs} runs with ${messages} messages each`, () =>
        Effect.gen(function* () {
          const log = yield* EventLog
          const runIds = yield* Effect.forEach(Array.from({ length: runs }), () => createRun())
          const ids = Array.from({ length: messages }, (_, position) => `m${(3 * position) % messages}`)
          yield* Effect.forEach(
            runIds,
            (runId) => log.observe({ runId, cursor: 0, frames: ids.map((id) => envelope(runId, id)) }),
            { concurrency: "unbounded" }
          )
          for (const runId of runIds) {
            const rows = yield* listed(runId)
            assert.deepStrictEqual(
              rows.map(({ messageId }) => messageId),
              ids
            )
          }
        })
      )
    }

    /** Batches of frames: `+a` accepts the message a, `-a` refuses it, `-` names none, `?+a` has a lost cursor. */
    for (const [what, batches] of [
      ["refusals without a message id", ["+a -", "- -"]],
      ["a refusal that is repeated", ["-a -a", "-a"]],
      ["an acceptance after a refusal, in one batch", ["-a +a +b"]],
      ["an acceptance after a refusal, in two batches", ["-a", "-a +a -a"]],
      ["a refusal after an acceptance", ["+a -a", "-a"]],
      ["an acceptance that is repeated", ["+a +a", "+a"]],
      ["an acceptance after a refusal, refused at first for its cursor", ["-a", "?+a", "+a"]],
      ["an acceptance that is refused for its cursor", ["-a +b", "?+c", "-c"]]
    ] as const) {
      it.effect(`are counted as they are listed: ${what}`, () =>
        Effect.gen(function* () {
          const log = yield* EventLog
          const runId = yield* createRun()
          let cursor = 0
          for (const batch of batches) {
            const isLost = batch.startsWith("?")
            const frames = batch.split(" ").map((said) => {
              const id = said.replace(/^[?+-]+/, "")
              return said.includes("+") ? envelope(runId, id) : refusal(runId, id)
            })
            const outcome = yield* Effect.result(log.observe({ runId, cursor: isLost ? 99 : cursor, frames }))
            if (outcome._tag === "Success") cursor = outcome.success.cursor
            else assert.isTrue(isLost)
            const { state } = yield* assertLogIsExact(runId)
            const rows = yield* listed(runId)
            assert.strictEqual(new Set(rows.map(({ messageId }) => messageId)).size, rows.length)
            const { accepted, rejected, total } = JSON.parse(state).outboundMessages
            const count = (status: string) => rows.filter((row) => row.status === status).length
            assert.deepStrictEqual(
              { total, ...(!isLost && { accepted, rejected }) },
              { total: rows.length, ...(!isLost && { accepted: count("accepted"), rejected: count("rejected") }) }
            )
          }
        })
      )
    }
  }
)
