import { assert, describe, it } from "@effect/vitest"
import { ArchiveFault, type ArchiveTarget, countingFiles, openTableFile, refusedText } from "@runplane/archive"
import { type ArchiveRow, type ArchiveTable, archivePath } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { memoryTarget } from "./support/MemoryTarget.ts"
import { eventRowOf, runRowOf, tombstoneRowOf } from "./support/Rows.ts"

const pathOf = (table: ArchiveTable, from: number, to: number) =>
  archivePath({ table, day: "2026-11-26", cell: "main", from, to })

const put = <Table extends ArchiveTable>(
  target: ArchiveTarget,
  table: Table,
  range: readonly [from: number, to: number],
  rows: ReadonlyArray<ArchiveRow<Table>>
) => {
  const file = openTableFile(table)
  for (const row of rows) file.add(row, 100)
  return target.put(pathOf(table, ...range), file.finish())
}

const inMemory = <A, E>(use: (target: ArchiveTarget) => Effect.Effect<A, E>) =>
  Effect.suspend(() => use(memoryTarget()))

const events = (from: number, to: number, runId = "run-1") =>
  Array.from({ length: to - from + 1 }, (_, at) => eventRowOf(from + at, { run_id: runId }))

const parts = Effect.fnUntraced(function* (target: ArchiveTarget) {
  yield* put(target, "events", [1, 10], events(1, 10))
  yield* put(target, "events", [11, 20], events(11, 20))
})
const PARTS = [pathOf("events", 1, 10), pathOf("events", 11, 20)]

describe("a file whose name covers others", () => {
  it.effect("counts in their stead when it holds their rows", () =>
    inMemory((target) =>
      Effect.gen(function* () {
        yield* parts(target)
        yield* put(target, "events", [1, 20], events(1, 20))
        assert.deepStrictEqual(yield* countingFiles(target, "events"), {
          paths: [pathOf("events", 1, 20)],
          refused: []
        })
      })
    )
  )

  it.effect("hides no row that it lacks, and is named", () =>
    inMemory((target) =>
      Effect.gen(function* () {
        yield* parts(target)
        const forged = pathOf("events", 1, 9_999_999_999_999)
        yield* put(target, "events", [1, 9_999_999_999_999], events(1, 14))
        const { paths, refused } = yield* countingFiles(target, "events")
        assert.deepStrictEqual(paths, PARTS)
        assert.deepStrictEqual(refused, [{ path: forged, covers: 2, missing: 6 }])
        assert.strictEqual(
          refused.map(refusedText).join(),
          `${forged} does not count: it lacks 6 rows of the 2 files that it covers`
        )
      })
    )
  )

  it.effect("leaves a merged file below it to be judged by its own rows", () =>
    inMemory((target) =>
      Effect.gen(function* () {
        yield* parts(target)
        yield* put(target, "events", [1, 20], events(1, 20))
        yield* put(target, "events", [1, 99], [])
        const { paths, refused } = yield* countingFiles(target, "events")
        assert.deepStrictEqual(paths, [pathOf("events", 1, 20)])
        assert.deepStrictEqual(
          refused.map(({ path }) => path),
          [pathOf("events", 1, 99)]
        )
      })
    )
  )

  it.effect("may lack the rows of deleted runs, and of no others", () =>
    inMemory((target) =>
      Effect.gen(function* () {
        yield* put(target, "events", [1, 10], [...events(1, 5, "gone"), ...events(6, 10)])
        yield* put(target, "events", [1, 20], events(6, 10))
        assert.strictEqual((yield* countingFiles(target, "events")).refused[0]?.missing, 5)
        yield* put(target, "tombstones", [1, 1], [tombstoneRowOf("gone", 1)])
        assert.deepStrictEqual((yield* countingFiles(target, "events")).paths, [pathOf("events", 1, 20)])
      })
    )
  )

  it.effect("may have later versions of rows alone", () =>
    inMemory((target) =>
      Effect.gen(function* () {
        yield* put(target, "runs", [1, 1], [runRowOf("a", 1), runRowOf("b", 1)])
        yield* put(target, "runs", [2, 2], [runRowOf("a", 2)])
        yield* put(target, "runs", [1, 2], [runRowOf("a", 1), runRowOf("b", 1)])
        assert.strictEqual((yield* countingFiles(target, "runs")).refused[0]?.missing, 1)
        yield* put(target, "runs", [1, 2], [runRowOf("a", 2), runRowOf("b", 1)])
        assert.deepStrictEqual((yield* countingFiles(target, "runs")).paths, [pathOf("runs", 1, 2)])
      })
    )
  )

  it.effect("hides no tombstone", () =>
    inMemory((target) =>
      Effect.gen(function* () {
        yield* put(target, "tombstones", [1, 1], [tombstoneRowOf("gone", 1)])
        yield* put(target, "tombstones", [1, 9], [])
        assert.deepStrictEqual((yield* countingFiles(target, "tombstones")).paths, [pathOf("tombstones", 1, 1)])
      })
    )
  )

  it.effect("is listed again when compaction removes a part meanwhile", () =>
    inMemory((target) =>
      Effect.gen(function* () {
        yield* parts(target)
        yield* put(target, "events", [1, 20], events(1, 20))
        const [part = ""] = PARTS
        const racing: ArchiveTarget = {
          ...target,
          size: (path) =>
            path === part
              ? Effect.andThen(
                  Effect.forEach(PARTS, target.remove),
                  Effect.fail(new ArchiveFault({ kind: "missing", message: path }))
                )
              : target.size(path)
        }
        assert.deepStrictEqual((yield* countingFiles(racing, "events")).paths, [pathOf("events", 1, 20)])
      })
    )
  )
})
