import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { EventLog } from "../../../src/event-log/EventLog.ts"
import { EventSearch } from "../../../src/queries/query/EventSearch.ts"
import { messageDraft } from "../../support/Appends.ts"
import { layerTestService } from "../../support/HttpService.ts"
import { createRun } from "../../support/Runs.ts"

const LARGE = "x".repeat(3 * 1024 * 1024)

layer(layerTestService(), { excludeTestServices: true })("the end of the log", (it) => {
  it.effect("has pages up to the watermark, and marks the last one", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const search = yield* EventSearch
      const runId = yield* createRun()
      const before = (yield* log.record({ runId, events: [messageDraft(1)] })).lastSeq
      const { events, lastSeq } = yield* log.record({ runId, events: [2, 3, 4].map((at) => messageDraft(at)) })
      const first = yield* search.endOfLog(before, 2)
      assert.deepStrictEqual(
        first.events,
        events.slice(0, 2).map(({ index, json, seq }) => ({ seq, index, json }))
      )
      assert.deepStrictEqual([first.upTo, first.isEnd], [events[1]?.seq, false])
      const second = yield* search.endOfLog(first.upTo, 2)
      assert.lengthOf(second.events, 1)
      assert.deepInclude(second, { upTo: lastSeq, isEnd: true })
      assert.deepStrictEqual(yield* search.endOfLog(lastSeq, 2), {
        events: [],
        upTo: lastSeq,
        isEnd: true
      })
    })
  )

  it.effect("is bounded in bytes as well, and never goes back", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const search = yield* EventSearch
      const runId = yield* createRun()
      const before = (yield* log.record({ runId, events: [messageDraft(1)] })).lastSeq
      for (const at of [2, 3, 4]) yield* log.record({ runId, events: [messageDraft(at, undefined, LARGE)] })
      const first = yield* search.endOfLog(before, 500)
      assert.lengthOf(first.events, 2)
      assert.deepStrictEqual([first.upTo, first.isEnd], [first.events[1]?.seq, false])
      const { events, isEnd, upTo } = yield* search.endOfLog(first.upTo, 500)
      assert.lengthOf(events, 1)
      assert.isTrue(isEnd)
      assert.strictEqual((yield* search.endOfLog(upTo + 1_000, 500)).upTo, upTo + 1_000)
    })
  )
})
