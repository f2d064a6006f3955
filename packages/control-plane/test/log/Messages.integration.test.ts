import { assert, layer } from "@effect/vitest"
import type { RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ObservedFrame } from "../../src/log/AppendRequest.ts"
import { EventLog } from "../../src/log/EventLog.ts"
import { observed } from "../../src/log/FrameBytes.ts"
import { RunDocuments } from "../../src/log/runs/RunDocuments.ts"
import { layerTestLog } from "../support/ControlPlane.ts"
import { createRun } from "../support/Runs.ts"
import { layerTestDatabase } from "../support/TestDatabase.ts"

const RECEIVED_AT = "2026-07-01T10:00:01.000Z"

const envelope = (runId: RunId, messageId: string): ObservedFrame =>
  observed(
    {
      kind: "stream-envelope",
      ambient: false,
      envelope: {
        macpVersion: "1.0",
        mode: "macp.mode.decision.v1",
        messageType: "Contribute",
        messageId,
        sessionId: runId,
        sender: "agent://a",
        timestampUnixMs: 1,
        payload: new Uint8Array()
      }
    },
    RECEIVED_AT
  )

const listed = Effect.fnUntraced(function* (runId: RunId) {
  const documents = yield* RunDocuments
  const { rows } = yield* documents.messages(runId, 0, 1_000)
  return rows.map(({ json }): { readonly messageId: string; readonly status: string } => JSON.parse(json))
})

layer(layerTestLog.pipe(Layer.provideMerge(layerTestDatabase)))("outbound messages", (it) => {
  for (const [runs, messages] of [
    [1, 4],
    [4, 4],
    [4, 40]
  ] as const) {
    it.effect(`keep their order in a transaction of ${runs} runs with ${messages} messages each`, () =>
      Effect.gen(function* () {
        const log = yield* EventLog
        const runIds = yield* Effect.forEach(Array.from({ length: runs }), () => createRun())
        const ids = Array.from({ length: messages }, (_, place) => `m${(3 * place) % messages}`)
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
})
