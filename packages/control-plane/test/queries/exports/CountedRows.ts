import * as Effect from "effect/Effect"
import type { SaltedSlice } from "../../../src/event-log/EventRepository.ts"
import type { ExportRows } from "../../../src/queries/exports/ExportText.ts"

/** Counts the rows that an export reads, so that a test can compare them with its output. */
export class CountedRows {
  read = 0

  readonly count = <Args extends ReadonlyArray<unknown>, A, E>(
    source: (...args: Args) => Effect.Effect<ReadonlyArray<A>, E>
  ) => {
    return (...args: Args) =>
      Effect.tap(source(...args), (page) =>
        Effect.sync(() => {
          this.read += page.length
        })
      )
  }

  /** The same of pages of events. */
  readonly countEvents = <Args extends ReadonlyArray<unknown>, Page extends SaltedSlice, E>(
    source: (...args: Args) => Effect.Effect<Page, E>
  ) => {
    return (...args: Args) =>
      Effect.tap(source(...args), ({ events }) =>
        Effect.sync(() => {
          this.read += events.length
        })
      )
  }

  /** Rows of events made up as they are read: `total` of each kind. */
  readonly madeUp = (total: number, padding = ""): ExportRows => {
    const page = (afterSeq: number, limit: number) =>
      Array.from({ length: Math.max(0, Math.min(limit, total - afterSeq)) }, (_, offset) => afterSeq + offset + 1)
    return {
      artifacts: () => Effect.succeed({ rows: [], taken: 0, isCut: false }),
      marks: () => Effect.undefined,
      erasures: () => Effect.undefined,
      status: () => Effect.succeed("completed"),
      canonicalEvents: this.count((_runId, afterSeq: number, limit: number) =>
        Effect.succeed(
          page(afterSeq, limit).map((seq) => ({
            seq,
            index: seq,
            json: JSON.stringify({
              id: `e${seq}`,
              seq,
              index: seq,
              ts: "then",
              type: "message.received",
              data: { padding }
            }),
            salts: undefined
          }))
        )
      ),
      rawEvents: this.count((_runId, afterSeq: number, limit: number) =>
        Effect.succeed(
          page(afterSeq, limit).map((seq) => ({ seq, json: JSON.stringify({ id: `r${seq}`, seq }), salts: undefined }))
        )
      )
    }
  }
}
