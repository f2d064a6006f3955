import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { EventRepository, eventText, type StoredEvent } from "../../src/event-log/EventRepository.ts"
import { READ_BYTES } from "../../src/platform/postgres/BoundedRows.ts"
import { appendMessages } from "../support/Appends.ts"
import { layerTestLog } from "../support/ControlPlane.ts"
import { createRun } from "../support/Runs.ts"
import { layerTestDatabase } from "../support/TestDatabase.ts"

const EVERYTHING = { afterSeq: 0, types: [] }

layer(layerTestLog.pipe(Layer.provideMerge(layerTestDatabase)), { excludeTestServices: true })(
  "the text of a page of events",
  (it) => {
    it.effect("is that of its events, whatever the filter", () =>
      Effect.gen(function* () {
        const events = yield* EventRepository
        const runId = yield* createRun()
        yield* appendMessages(runId, 30, 10, 'a "text", \u00fc \u2028')
        const { events: all } = yield* events.page(runId, EVERYTHING, 100)
        assert.lengthOf(all, 31)
        const filters = [
          EVERYTHING,
          { ...EVERYTHING, afterSeq: all[12]?.seq ?? 0 },
          { ...EVERYTHING, types: ["message.received"] },
          { ...EVERYTHING, types: ["signal.emitted"] },
          { ...EVERYTHING, afterTs: "2999-01-01T00:00:00.000Z" }
        ]
        for (const filter of filters) {
          for (const limit of [1, 10, 1_000]) {
            const page = yield* events.page(runId, filter, limit)
            assert.deepStrictEqual(yield* events.text(runId, filter, limit), eventText(page))
          }
        }
      })
    )

    it.effect("is that of slices of any size, one after the other", () =>
      Effect.gen(function* () {
        const events = yield* EventRepository
        const runId = yield* createRun()
        yield* appendMessages(runId, 30, 10, "y".repeat(1_000))
        const { events: all } = yield* events.page(runId, EVERYTHING, 100)
        const read: Array<StoredEvent> = []
        let isLast = false
        while (!isLast) {
          const slice = yield* events.slice(runId, { afterSeq: read.at(-1)?.seq ?? 0 }, 100, 5_000)
          assert.isBelow(
            slice.events.reduce((sum, { json }) => sum + json.length, 0),
            10_000
          )
          read.push(...slice.events)
          isLast = slice.isLast
        }
        assert.deepStrictEqual(read, all)
      })
    )

    it.effect("ends where a page of large events ends, be they compressed or not", () =>
      Effect.gen(function* () {
        const events = yield* EventRepository
        const runId = yield* createRun()
        // PostgreSQL compresses the first to a hundredth, the second not at all.
        yield* appendMessages(runId, 6, 1, "x".repeat(READ_BYTES / 4))
        const random = Array.from({ length: READ_BYTES / 40 }, (_, number) =>
          ((number * 2_654_435_761) % 1e9).toString(36)
        )
        yield* appendMessages(runId, 6, 1, random.join(" "))
        let after = 0
        let cuts = 0
        let count = 0
        for (;;) {
          const filter = { ...EVERYTHING, afterSeq: after }
          const page = yield* events.page(runId, filter, 100)
          const text = yield* events.text(runId, filter, 100)
          assert.deepStrictEqual(text, eventText(page))
          assert.isBelow(text.text.length, 2 * READ_BYTES)
          count += text.count
          if (!text.isCut) break
          cuts += 1
          after = text.lastSeq ?? after
        }
        assert.strictEqual(count, 13)
        assert.isAbove(cuts, 0)
      })
    )
  }
)
