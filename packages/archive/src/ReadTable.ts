import { zstdDecompressSync } from "node:zlib"
import { type ArchiveColumn, type ArchiveRow, type ArchiveTable, archiveTables } from "@runplane/domain"
import * as Effect from "effect/Effect"
import {
  type AsyncBuffer,
  type ParquetQueryFilter,
  parquetMetadataAsync,
  parquetReadObjects,
  type RowGroup
} from "hyparquet"
import { ArchiveFault } from "./ArchiveFault.ts"
import type { ArchiveTarget } from "./ArchiveStore.ts"

export interface Wanted {
  /** Rows of this run alone. */
  readonly runId?: string
  /** Rows of these positions alone (inclusive); only of tables with a `seq`. */
  readonly seqs?: readonly [from: number, to: number]
}

const COMPRESSORS = { ZSTD: (input: Uint8Array) => new Uint8Array(zstdDecompressSync(input)) }

/** A group of rows of an open file. */
export interface TableGroup {
  /** The first and the last `seq` of its rows; undefined for tables without one. */
  readonly seqs: readonly [from: number, to: number] | undefined
}

/** A file whose footer was read. */
export interface OpenTable<Table extends ArchiveTable> {
  readonly groups: ReadonlyArray<TableGroup>
  /** The wanted rows of a group; it reads nothing when the statistics exclude them. */
  readonly read: (group: number, wanted: Wanted) => Effect.Effect<ReadonlyArray<ArchiveRow<Table>>, ArchiveFault>
}

/** A file with its footer; `read` turns a failure of the reader into one of this file. */
const openFile = Effect.fnUntraced(function* (target: ArchiveTarget, path: string) {
  const byteLength = yield* target.size(path)
  const context = yield* Effect.context<never>()
  const file: AsyncBuffer = {
    byteLength,
    slice: async (start, end = byteLength) => {
      const bytes = await Effect.runPromiseWith(context)(target.read(path, start, end))
      return bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength
        ? bytes.buffer
        : bytes.slice().buffer
    }
  }
  const read = <A>(promise: () => Promise<A>) =>
    Effect.tryPromise({ try: promise, catch: (cause) => unreadable(path, cause) })
  return { file, metadata: yield* read(() => parquetMetadataAsync(file)), read }
})

/** Opens a file of a table. Fails with `unreadable` when it is not a Parquet file. */
export const openTable = Effect.fn("archive.openTable")(function* <Table extends ArchiveTable>(
  target: ArchiveTarget,
  table: Table,
  path: string
): Effect.fn.Return<OpenTable<Table>, ArchiveFault> {
  const { file, metadata, read } = yield* openFile(target, path)
  const readGroup = Effect.fnUntraced(function* (group: number, wanted: Wanted) {
    const rowGroup = metadata.row_groups[group]
    if (rowGroup === undefined) return []
    const filter = filterOf(wanted)
    const rows = yield* read(() =>
      parquetReadObjects({
        // Of one group: the reader loads the Bloom filters of every group that it is given.
        ...{ file, metadata: { ...metadata, row_groups: [rowGroup] }, useBloomFilters: true },
        ...(filter !== undefined && { filter }),
        compressors: COMPRESSORS
      })
    )
    const found: Array<ArchiveRow<Table>> = []
    for (const row of rows) {
      const typed = rowOf(table, row)
      if (typed === undefined) return yield* unreadable(path, `a row is not one of ${table}`)
      found.push(typed)
    }
    return found
  })
  return { groups: metadata.row_groups.map((group) => ({ seqs: seqsOf(group) })), read: readGroup }
})

const seqsOf = ({ columns }: RowGroup): TableGroup["seqs"] => {
  const column = columns.find(({ meta_data }) => meta_data?.path_in_schema[0] === "seq")
  const { max_value: max, min_value: min } = column?.meta_data?.statistics ?? {}
  return typeof min === "bigint" && typeof max === "bigint" ? [Number(min), Number(max)] : undefined
}

/**
 * The rows of a file, a group at a time, through `take`. Groups without a wanted row are not read. Fails with
 * `unreadable` when the file does not have the columns of the table.
 */
export const readTable = Effect.fn("archive.readTable")(function* <Table extends ArchiveTable, E, R>(
  target: ArchiveTarget,
  table: Table,
  path: string,
  wanted: Wanted,
  take: (rows: ReadonlyArray<ArchiveRow<Table>>) => Effect.Effect<void, E, R>
) {
  const { groups, read } = yield* openTable(target, table, path)
  for (const group of groups.keys()) {
    const rows = yield* read(group, wanted)
    if (rows.length > 0) yield* take(rows)
  }
})

/** The number of rows of a file, from its footer. */
export const rowsOf = Effect.fnUntraced(function* (target: ArchiveTarget, path: string) {
  const { metadata } = yield* openFile(target, path)
  return Number(metadata.num_rows)
})

/** Some columns of all rows of a file, a group at a time, through `take`. Fails as `readTable` does. */
export const readColumns = Effect.fn("archive.readColumns")(function* <
  Table extends ArchiveTable,
  const Column extends string & keyof ArchiveRow<Table>,
  E,
  R
>(
  target: ArchiveTarget,
  table: Table,
  path: string,
  columns: ReadonlyArray<Column>,
  take: (rows: ReadonlyArray<Pick<ArchiveRow<Table>, Column>>) => Effect.Effect<void, E, R>
) {
  const { file, metadata, read } = yield* openFile(target, path)
  const known: Readonly<Record<string, ArchiveColumn>> = archiveTables[table]
  const wanted = columns.flatMap((name): ReadonlyArray<readonly [string, ArchiveColumn]> => {
    const column = known[name]
    return column === undefined ? [] : [[name, column]]
  })
  for (const group of metadata.row_groups) {
    const rows = yield* read(() =>
      parquetReadObjects({
        ...{ file, metadata: { ...metadata, row_groups: [group] }, columns: [...columns], compressors: COMPRESSORS }
      })
    )
    const found: Array<Pick<ArchiveRow<Table>, Column>> = []
    for (const row of rows) {
      const typed = decodedRow(wanted, row)
      if (typed === undefined || !isPart<Pick<ArchiveRow<Table>, Column>>(typed)) {
        return yield* unreadable(path, `a row is not one of ${table}`)
      }
      found.push(typed)
    }
    yield* take(found)
    // A file of many groups lets others run.
    yield* Effect.yieldNow
  }
})

const unreadable = (path: string, cause: unknown) =>
  cause instanceof ArchiveFault
    ? cause
    : new ArchiveFault({
        kind: "unreadable",
        message: `${path} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`
      })

const filterOf = ({ runId, seqs }: Wanted): ParquetQueryFilter | undefined => {
  const parts: Array<ParquetQueryFilter> = [
    ...(runId === undefined ? [] : [{ run_id: { $eq: runId } }]),
    ...(seqs === undefined ? [] : [{ seq: { $gte: BigInt(seqs[0]), $lte: BigInt(seqs[1]) } }])
  ]
  return parts.length === 0 ? undefined : { $and: parts }
}

/** The row with our types; undefined when a column has another type. */
const rowOf = <Table extends ArchiveTable>(
  table: Table,
  read: Readonly<Record<string, unknown>>
): ArchiveRow<Table> | undefined => {
  const row = decodedRow(Object.entries(archiveTables[table]), read)
  return row !== undefined && isPart<ArchiveRow<Table>>(row) ? row : undefined
}

/** These columns of a row with our types; undefined when one has another type. */
const decodedRow = (
  columns: ReadonlyArray<readonly [string, ArchiveColumn]>,
  read: Readonly<Record<string, unknown>>
): Record<string, unknown> | undefined => {
  const row: Record<string, unknown> = {}
  for (const [name, column] of columns) {
    const value = decoded(column, read[name])
    if (value === undefined) return undefined
    row[name] = value
  }
  return row
}

/** Every column was checked before. */
const isPart = <Part>(_: Record<string, unknown>): _ is Record<string, unknown> & Part => true

const decoded = ({ isOptional, type }: ArchiveColumn, value: unknown): unknown => {
  if (value === null || value === undefined) return isOptional ? null : undefined
  switch (type) {
    case "text":
      return typeof value === "string" ? value : undefined
    case "int":
    case "number":
      return typeof value === "number" ? value : undefined
    case "long":
      return typeof value === "bigint" ? Number(value) : undefined
    case "flag":
      return typeof value === "boolean" ? value : undefined
    case "time":
      return value instanceof Date ? value.getTime() : undefined
    case "texts":
      return Array.isArray(value) && value.every((text) => typeof text === "string") ? value : undefined
  }
}
