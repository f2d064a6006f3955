import { output, printedAsJson } from "@runplane/cli"
import { type BackupProgress, backupDatabase, migrateDatabase, restoreDatabase } from "@runplane/control-plane"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { commandDatabase } from "./CommandDatabase.ts"
import { inOneLine, unlessInterrupted } from "./Ends.ts"

/** Time between two lines of progress on standard error. Milliseconds. */
const PROGRESS_MS = 5_000

/** Prints where the work is, at most every few seconds, so that a small database has no line of it. */
const makeProgress = Effect.map(Clock.currentTimeMillis, (start) => {
  let last = start
  return ({ of, rows, table, tables }: BackupProgress) =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      if (now - last < PROGRESS_MS) return
      last = now
      yield* Console.error(`${tables} of ${of} tables, ${rows} rows, in ${table}`)
    })
})

const file = Argument.String("file")

/** `runplane backup` (docs/reference/operations.md#backup-and-restore). */
export const backup = Command.make(
  "backup",
  { file: file.pipe(Argument.withDescription("The new file, which only its owner can read")) },
  ({ file }) =>
    Effect.gen(function* () {
      yield* output
      const written = yield* Effect.gen(function* () {
        const database = yield* commandDatabase({ make: false })
        return yield* backupDatabase(database, { file, progress: yield* makeProgress })
      }).pipe(Effect.scoped, inOneLine, (work) => unlessInterrupted(work, "there is no backup"))
      if (written.hasPeople) {
        yield* Console.error(
          "runplane: the file does not have the questions to people, the schema people of the launch service: " +
            "write it with pg_dump --schema=people"
        )
      }
      if (yield* printedAsJson(written)) return
      const { bytes, rows, tables } = written
      yield* Console.log(`wrote ${tables} tables with ${rows} rows to ${file}, ${bytes} bytes`)
    })
).pipe(Command.withDescription("Write the database to a file, at one moment, while it is in use"))

/** `runplane restore`, which brings the schema up to date, too. */
export const restore = Command.make(
  "restore",
  { file: file.pipe(Argument.withDescription("A file of `runplane backup`")) },
  ({ file }) =>
    Effect.gen(function* () {
      yield* output
      const { applied, restored } = yield* Effect.gen(function* () {
        const database = yield* commandDatabase({ make: true })
        const restored = yield* restoreDatabase(database, { file, progress: yield* makeProgress })
        return { restored, applied: yield* migrateDatabase(database) }
      }).pipe(Effect.scoped, inOneLine, (work) => unlessInterrupted(work, "a restore is stored whole or not at all"))
      const { head, leftOut, rows, tables } = restored
      for (const name of leftOut) {
        yield* Console.error(`runplane: left out ${name}, because no migration of Runplane makes it`)
      }
      const migrated = applied.map(([id, name]) => ({ id, name }))
      if (yield* printedAsJson({ tables, rows, at: head.at, applied: migrated, leftOut })) return
      for (const { id, name } of migrated) yield* Console.log(`applied ${id} ${name}`)
      yield* Console.log(`restored ${tables} tables with ${rows} rows, as they were at ${head.at}`)
    })
).pipe(Command.withDescription("Fill an empty database from a backup, and bring its schema up to date"))
