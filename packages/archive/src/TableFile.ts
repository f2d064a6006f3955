import { zstdCompressSync } from "node:zlib"
import {
  ARCHIVE_VERSION,
  type ArchiveColumn,
  type ArchiveRow,
  type ArchiveTable,
  archiveTables
} from "@runplane/domain"
import { ByteWriter, ParquetWriter } from "hyparquet-writer"
import { schemaOf } from "./Schema.ts"

/** A group of rows is encoded at a time, which blocks the process: about 20 ms. */
const GROUP_ROWS = 20_000
const GROUP_BYTES = 4 * 1024 * 1024

/** Columns whose Bloom filter spares readers the groups without a value. */
const SEARCHED: ReadonlySet<string> = new Set(["run_id", "mark_id"])

/** Columns whose values are written as they are: few of them repeat. */
const LARGE: ReadonlySet<string> = new Set(["event", "run", "metrics", "seal"])

/**
 * A Parquet file of a table, made row by row. The same rows make the same bytes. It holds the compressed groups and the
 * rows of the last group.
 */
export interface TableFile<Table extends ArchiveTable> {
  readonly rows: () => number
  /** `bytes` is the size of the row's texts. True when a group was encoded: the caller lets others run. */
  readonly add: (row: ArchiveRow<Table>, bytes: number) => boolean
  /** The whole file; nothing can be added after it. */
  readonly finish: () => Uint8Array<ArrayBuffer>
}

export const openTableFile = <Table extends ArchiveTable>(table: Table): TableFile<Table> => {
  const out = new ByteWriter()
  const writer = new ParquetWriter({
    writer: out,
    schema: schemaOf(table),
    codec: "ZSTD",
    compressors: { ZSTD: (input) => zstdCompressSync(input) },
    createdBy: "runplane",
    kvMetadata: [
      { key: "runplane.table", value: table },
      { key: "runplane.version", value: String(ARCHIVE_VERSION) }
    ]
  })
  const columns: ReadonlyArray<readonly [string, ArchiveColumn]> = Object.entries(archiveTables[table])
  let group: Array<ArchiveRow<Table>> = []
  let groupBytes = 0
  let rows = 0

  const flush = () => {
    if (group.length === 0) return
    const taken = group
    group = []
    groupBytes = 0
    writer.write({
      columnData: columns.map(([name, column]) => ({
        name,
        data: valuesOf(taken, name, column),
        ...(SEARCHED.has(name) && { bloomFilter: true }),
        ...(LARGE.has(name) && { statistics: false, encoding: "PLAIN" as const })
      })),
      rowGroupSize: taken.length
    })
  }
  return {
    rows: () => rows,
    add: (row, bytes) => {
      group.push(row)
      groupBytes += bytes
      rows += 1
      if (group.length < GROUP_ROWS && groupBytes < GROUP_BYTES) return false
      flush()
      return true
    },
    finish: () => {
      flush()
      writer.finish()
      return new Uint8Array(out.getBuffer())
    }
  }
}

const valuesOf = (rows: ReadonlyArray<object>, name: string, { type }: ArchiveColumn): Array<unknown> => {
  const values = rows.map((row): unknown => Reflect.get(row, name))
  if (type !== "long" && type !== "time") return values
  return values.map((value) => (typeof value === "number" ? BigInt(value) : value))
}
