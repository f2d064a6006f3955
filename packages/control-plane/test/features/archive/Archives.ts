import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert } from "@effect/vitest"
import { ArchiveStore, type ArchiveTarget, fileTarget, readTable } from "@runplane/archive"
import { isContention } from "@runplane/database"
import { type ArchiveRow, type ArchiveTable, archiveFile, currentFiles } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Archive from "../../../src/features/archive/Archive.ts"
import { ArchiveLock, layerLocked } from "../../../src/features/archive/ArchiveLock.ts"
import { ArchiveOptions, type ArchiveWriting } from "../../../src/features/archive/ArchiveOptions.ts"
import { ArchiveWriter } from "../../../src/features/archive/ArchiveWriter.ts"

/** A folder that goes with the scope. */
export const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "runplane-archive-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

export const writing = (changes: Partial<ArchiveWriting> = {}): ArchiveWriting => ({
  cell: "main",
  bounds: { rows: 1_000, bytes: 1_000_000 },
  intervalMs: 60_000,
  ...changes
})

/** A writer of its own, as another process has it. */
export const layerWriter = (target: ArchiveTarget, options: ArchiveWriting = writing()) =>
  Layer.fresh(Archive.layerWriter).pipe(
    Layer.provide([Layer.succeed(ArchiveStore, target), Layer.succeed(ArchiveOptions, options)])
  )

export const passInto = (target: ArchiveTarget, options?: ArchiveWriting) =>
  Effect.provide(
    ArchiveWriter.use(({ pass }) => pass),
    layerWriter(target, options)
  )

/** Runs an effect while no process changes the archive. */
export const betweenWrites = <A, E, R>(target: ArchiveTarget, effect: Effect.Effect<A, E, R>) =>
  Effect.provide(
    ArchiveLock.use(({ withLockAtLast }) => withLockAtLast(effect)),
    Layer.fresh(layerLocked).pipe(Layer.provide(Layer.succeed(ArchiveStore, target)))
  )

/** Every row of a table that a reader counts. */
export const rowsOf = Effect.fnUntraced(function* <Table extends ArchiveTable>(target: ArchiveTarget, table: Table) {
  const found: Array<ArchiveRow<Table>> = []
  for (const path of currentFiles(yield* target.list(`${table}/`))) {
    yield* readTable(target, table, path, {}, (rows) => Effect.sync(() => void found.push(...rows)))
  }
  return found
})

/**
 * Checks that the archive has each event of the database up to its position once, byte for byte, in files whose ranges
 * follow each other, and that these files are the ones that the database knows.
 */
export const checkArchive = Effect.fnUntraced(function* (
  target: ArchiveTarget,
  /** Runs that were deleted after their events were in files. */
  deleted: ReadonlySet<string> = new Set()
) {
  const sql = yield* PgClient.PgClient
  const [state] = yield* sql<{ readonly seq: bigint }>`SELECT seq FROM archive_state`
  const logged = yield* sql<{ readonly seq: bigint; readonly event: string }>`
    SELECT seq, event::text AS event FROM canonical_events WHERE seq <= ${state?.seq ?? 0n} ORDER BY seq`
  const everything = (yield* rowsOf(target, "events")).toSorted((a, b) => a.seq - b.seq)
  assert.strictEqual(new Set(everything.map(({ seq }) => seq)).size, everything.length)
  const filed = everything.filter(({ run_id }) => !deleted.has(run_id))
  assert.deepStrictEqual(
    filed.map(({ event, seq }) => ({ seq, event })),
    logged.map(({ event, seq }) => ({ seq: Number(seq), event }))
  )
  const known = yield* sql<{ readonly path: string; readonly bytes: bigint; readonly rows: bigint }>`
    SELECT path, bytes, rows FROM archive_files ORDER BY path`
  const there = yield* target.list("")
  assert.deepStrictEqual(
    there,
    known.map(({ path }) => path)
  )
  for (const { bytes, path } of known) assert.strictEqual(yield* target.size(path), Number(bytes))
  const ranges = [
    ...new Map(
      there
        .flatMap((path) => archiveFile(path) ?? [])
        .filter(({ table }) => table === "events")
        .map((file) => [file.from, file])
    ).values()
  ].toSorted((a, b) => a.from - b.from)
  for (const [index, file] of ranges.entries()) {
    const next = ranges[index + 1]
    if (next !== undefined) assert.isAbove(next.from, file.to)
  }
  return filed.length
})

export const openTarget = Effect.map(temporaryFolder, (folder) => fileTarget(folder))

/** Empties tables beside the loops of a service: a deadlock with one of their reads ends one of the two. */
export const truncated = (tables: string) =>
  Effect.retry(
    PgClient.PgClient.use((sql) => sql`TRUNCATE ${sql.literal(tables)} CASCADE`),
    { times: 5, while: isContention }
  )

/** Begins with an empty database, whose archive may have another target. */
export const emptied = truncated(
  "runs, canonical_events, raw_events, outbound_messages, projections, run_metrics, run_tombstones, " +
    "archive_state, archive_ranges, archive_files, archive_runs, archive_changes"
)
