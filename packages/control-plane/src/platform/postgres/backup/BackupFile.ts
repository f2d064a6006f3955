import { createHash } from "node:crypto"
import { createGunzip, createGzip } from "node:zlib"
import * as NodeStream from "@effect/platform-node/NodeStream"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { PlatformError } from "effect/PlatformError"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

/**
 * A backup is gzip of lines of JSON (docs/reference/operations.md#backup-and-restore): a head, for each table its
 * columns, its rows as arrays of PostgreSQL's texts and their number, the sequences, and an end with the checksum of
 * all lines before it. A file without its end is not whole.
 */
export const FORMAT = 1

/** The backup or the restore did not come to its end; nothing of it is left. One line. */
export class BackupFailed extends Data.TaggedError("BackupFailed")<{ readonly reason: string }> {
  override get message(): string {
    return this.reason
  }
}

const Migration = Schema.Struct({ id: Schema.Int, name: Schema.String, hash: Schema.NullOr(Schema.String) })

/** The first line. */
export const Head = Schema.Struct({
  backup: Schema.Literal("runplane"),
  format: Schema.Int,
  program: Schema.String,
  /** Of the snapshot, by the clock of the database. */
  at: Schema.String,
  server: Schema.String,
  /** How many follow. */
  tables: Schema.Int,
  /** The schema of the tables. */
  migrations: Schema.NonEmptyArray(Migration)
})
export type Head = typeof Head.Type

export const TableStart = Schema.Struct({ table: Schema.String, columns: Schema.NonEmptyArray(Schema.String) })
export const TableEnd = Schema.Struct({ rows: Schema.Int })
export const Sequence = Schema.Struct({ sequence: Schema.String, value: Schema.String, isCalled: Schema.Boolean })
export const End = Schema.Struct({ tables: Schema.Int, rows: Schema.Int, sha256: Schema.String })
export type End = typeof End.Type

/** A line after the head that is not a row. `End` has the members of `TableEnd`, too, so it is tried first. */
const Line = Schema.fromJsonString(Schema.Union([TableStart, Sequence, End, TableEnd]))
export const decodeLine = Schema.decodeUnknownEffect(Line)
export const decodeHead = Schema.decodeUnknownEffect(Schema.fromJsonString(Head))

/** Whether the line is a row. */
export const isRow = (line: string): boolean => line.startsWith("[")

/** Counts the lines and their bytes, and has their checksum. */
export const makeChecksum = () => {
  const hash = createHash("sha256")
  return {
    add: (line: string) => {
      hash.update(line)
      hash.update("\n")
    },
    digest: () => hash.digest("hex")
  }
}

/** The end of the name while the file is not whole. */
const PART = ".part"

const why = ({ reason }: PlatformError): string => {
  switch (reason._tag) {
    case "AlreadyExists":
      return "it exists already"
    case "NotFound":
      return "its folder does not exist"
    case "PermissionDenied":
      return "it may not be written"
    default:
      return reason.cause instanceof Error ? reason.cause.message : reason._tag
  }
}

/** The lines that arrive together are one piece. */
const encoded = <E, R>(lines: Stream.Stream<string, E, R>): Stream.Stream<Uint8Array, E, R> =>
  Stream.mapArray(lines, (together) => [joined(together)])

const joined = (lines: ReadonlyArray<string>) => Buffer.from(lines.map((line) => `${line}\n`).join(""))

/**
 * Writes the lines to a new file that only its owner can read. The file has its name once it is whole and on the disk:
 * an interrupted or failed backup leaves none. Never overwrites one. Returns its size in bytes.
 */
export const writeBackup = Effect.fnUntraced(function* <E, R>(file: string, lines: Stream.Stream<string, E, R>) {
  const fs = yield* FileSystem.FileSystem
  const part = `${file}${PART}`
  const asFailure = (path: string) => (error: PlatformError) =>
    new BackupFailed({ reason: `${path} cannot be written: ${why(error)}` })
  const refuseExisting = Effect.gen(function* () {
    if (yield* Effect.mapError(fs.exists(file), asFailure(file))) {
      return yield* new BackupFailed({ reason: `${file} exists already, and a backup does not overwrite a file` })
    }
  })
  yield* refuseExisting
  // Another backup to the same name has it, or one that was killed left it.
  const own = Effect.acquireRelease(
    Effect.mapError(Effect.scoped(fs.open(part, { flag: "wx", mode: 0o600 })), asFailure(part)),
    () => Effect.ignore(fs.remove(part, { force: true }))
  )
  return yield* Effect.gen(function* () {
    yield* own
    yield* encoded(lines).pipe(
      NodeStream.pipeThroughDuplex({ evaluate: () => createGzip() }),
      Stream.run(fs.sink(part, { flag: "r+" })),
      Effect.mapError((error) => (error instanceof PlatformError ? asFailure(part)(error) : error))
    )
    const { size } = yield* Effect.gen(function* () {
      const opened = yield* fs.open(part, { flag: "r+" })
      yield* opened.sync
      return yield* opened.stat
    }).pipe(Effect.scoped, Effect.mapError(asFailure(part)))
    yield* refuseExisting
    yield* Effect.mapError(fs.rename(part, file), asFailure(file))
    return Number(size)
  }).pipe(Effect.scoped)
})

/** The lines of a backup. */
export const readBackup = (file: string): Stream.Stream<string, BackupFailed, FileSystem.FileSystem> =>
  Stream.unwrap(
    Effect.map(FileSystem.FileSystem, (fs) =>
      fs.stream(file).pipe(
        NodeStream.pipeThroughDuplex({ evaluate: () => createGunzip() }),
        Stream.decodeText(),
        Stream.splitLines,
        Stream.mapError((error) => {
          if (error._tag === "PlatformError") {
            const text = error.reason._tag === "NotFound" ? "it does not exist" : why(error)
            return new BackupFailed({ reason: `${file} cannot be read: ${text}` })
          }
          const { cause } = error
          const text = cause instanceof Error ? cause.message : String(cause)
          return new BackupFailed({ reason: `${file} is not a whole backup of Runplane: ${text}` })
        })
      )
    )
  )
