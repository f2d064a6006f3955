import { assert, describe, it } from "@effect/vitest"
import { type ArchiveTarget, openTableFile, readTable, type Wanted } from "@runplane/archive"
import type { ArchiveRow, ArchiveTable, ColdEvent } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { parquetMetadata } from "hyparquet"
import { memoryTarget } from "./support/MemoryTarget.ts"
import { eventRowOf, runRowOf } from "./support/Rows.ts"

const fileOf = <Table extends ArchiveTable>(table: Table, rows: ReadonlyArray<ArchiveRow<Table>>, bytes = 100) => {
  const file = openTableFile(table)
  for (const row of rows) file.add(row, bytes)
  return file.finish()
}

const rowsOf = <Table extends ArchiveTable>(target: ArchiveTarget, table: Table, path: string, wanted: Wanted = {}) =>
  Effect.gen(function* () {
    const found: Array<ArchiveRow<Table>> = []
    yield* readTable(target, table, path, wanted, (rows) => Effect.sync(() => found.push(...rows)))
    return found
  })

/** Letters that hardly compress, the same for the same seed. */
const noise = (seed: number, length: number) => {
  let state = seed + 1
  return Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return String.fromCharCode(48 + (state >>> 26))
  }).join("")
}

const events = Array.from({ length: 100 }, (_, index) => eventRowOf(index + 1))

describe("a file of events", () => {
  it.effect("is read back as it was written, in its order", () =>
    Effect.gen(function* () {
      const target = memoryTarget({ "a.parquet": fileOf("events", events) })
      assert.deepStrictEqual(yield* rowsOf(target, "events", "a.parquet"), events)
    })
  )

  it("is the same bytes for the same rows", () => {
    assert.deepStrictEqual(fileOf("events", events), fileOf("events", events))
  })

  it.effect("keeps texts byte for byte, however large and of whatever letters", () =>
    Effect.gen(function* () {
      const texts = ["", "\u0000", '{"a":"\\ud800"}', "x".repeat(3 * 1024 * 1024), "日本語 👩‍👩‍👧", " \r\n"]
      const rows = texts.map((event, index) => eventRowOf(index + 1, { event }))
      const target = memoryTarget({ "a.parquet": fileOf("events", rows, 2 * 1024 * 1024) })
      const read = yield* rowsOf(target, "events", "a.parquet")
      assert.deepStrictEqual(
        read.map(({ event }) => event),
        texts
      )
    })
  )

  it.effect("has groups bounded in bytes, and readers skip those without a wanted run", () =>
    Effect.gen(function* () {
      const rows = Array.from(
        { length: 40 },
        (_, index): ColdEvent =>
          eventRowOf(index + 1, { run_id: `run-${Math.floor(index / 10)}`, event: noise(index, 200_000) })
      )
      const bytes = fileOf("events", rows, 1_048_576)
      assert.lengthOf(parquetMetadata(bytes.buffer).row_groups, 10)
      const target = memoryTarget({ "a.parquet": bytes })
      const found = yield* rowsOf(target, "events", "a.parquet", { runId: "run-2" })
      assert.deepStrictEqual(
        found.map(({ seq }) => seq),
        Array.from({ length: 10 }, (_, index) => index + 21)
      )
      assert.isBelow(target.bytesRead(), bytes.length / 2)
      const between = yield* rowsOf(target, "events", "a.parquet", { seqs: [5, 7] })
      assert.deepStrictEqual(
        between.map(({ seq }) => seq),
        [5, 6, 7]
      )
    })
  )

  it.effect("is refused when it is not one", () =>
    Effect.gen(function* () {
      const whole = fileOf("events", events)
      const target = memoryTarget({
        "cut.parquet": whole.slice(0, whole.length / 2),
        "empty.parquet": new Uint8Array(),
        "runs.parquet": fileOf("runs", [runRowOf("r", 1)])
      })
      for (const path of ["cut.parquet", "empty.parquet", "runs.parquet"]) {
        const fault = yield* Effect.flip(rowsOf(target, "events", path))
        assert.strictEqual(fault.kind, "unreadable", path)
        assert.include(fault.message, path)
      }
      const missing = yield* Effect.flip(rowsOf(target, "events", "none.parquet"))
      assert.strictEqual(missing.kind, "missing")
    })
  )
})

describe("a file of runs", () => {
  it.effect("keeps lists, nulls, fractions and safe integers", () =>
    Effect.gen(function* () {
      const rows = [runRowOf("a", 1), runRowOf("b", 2, { tags: [], intent: "x", ended_at: null })]
      const target = memoryTarget({ "a.parquet": fileOf("runs", rows) })
      assert.deepStrictEqual(yield* rowsOf(target, "runs", "a.parquet"), rows)
    })
  )
})
