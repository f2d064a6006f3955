import * as Config from "effect/Config"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { usageProblem } from "../../CliFailure.ts"
import { byteSize } from "../../query/ByteSize.ts"
import { printAnswer, queryFormat } from "../../query/PrintedAnswer.ts"
import { runQuery } from "../../query/RunQuery.ts"
import { textOfStdin } from "../common/Input.ts"
import { openArchive } from "./ArchiveAccess.ts"

const MOST_ROWS = 1_000_000
/** The answer is in the memory of two processes, so it has a bound. */
const MOST_BYTES = 256 * 2 ** 20
/** As of a program that SIGINT ended: a cut answer never counts as a whole one. */
const INTERRUPTED = 130

const bytesOf = (flag: string, text: string) => {
  const bytes = byteSize(text)
  return bytes === undefined
    ? Effect.fail(usageProblem(`--${flag} ${text} is not a size: 512MiB, 2GiB`))
    : Effect.succeed(bytes)
}

const archiveUrl = (flag: Option.Option<string>) =>
  Effect.gen(function* () {
    const set = yield* Effect.orDie(Config.option(Config.String("ARCHIVE_URL")))
    const url = Option.getOrElse(flag, () => Option.getOrElse(set, () => ""))
    if (url === "") return yield* usageProblem("name the archive: --archive file:///directory, or ARCHIVE_URL")
    return url
  })

/** `runplane query "SQL"` (docs/reference/analytics.md#runplane-query). */
export const query = Command.make(
  "query",
  {
    sql: Argument.String("sql").pipe(
      Argument.withDescription("One SELECT over events, runs, marks, tombstones; - reads it from standard input")
    ),
    archive: Flag.String("archive").pipe(
      Flag.withDescription("The archive: file:///directory or s3://bucket/prefix; ARCHIVE_URL"),
      Flag.optional
    ),
    csv: Flag.Boolean("csv").pipe(
      Flag.withDescription("Print comma-separated values with a header"),
      Flag.withDefault(false)
    ),
    limit: Flag.Int("limit").pipe(
      Flag.withDescription(`Most rows of the answer, 1 to ${MOST_ROWS}`),
      Flag.withDefault(1_000)
    ),
    maxBytes: Flag.String("max-bytes").pipe(
      Flag.withDescription("Most bytes of the answer, at most 256MiB"),
      Flag.withDefault("16MiB")
    ),
    memory: Flag.String("memory").pipe(
      Flag.withDescription("Memory of the query; what is beyond goes to temporary files"),
      Flag.withDefault("2GiB")
    ),
    maxDownload: Flag.String("max-download").pipe(
      Flag.withDescription("Most bytes of a bucket that are copied for the query"),
      Flag.withDefault("4GiB")
    )
  },
  ({ archive, csv, limit, maxBytes, maxDownload, memory, sql }) =>
    Effect.gen(function* () {
      const format = yield* queryFormat(csv)
      if (limit < 1 || limit > MOST_ROWS) return yield* usageProblem(`--limit ${limit} is not from 1 to ${MOST_ROWS}`)
      const bytes = yield* bytesOf("max-bytes", maxBytes)
      if (bytes > MOST_BYTES) return yield* usageProblem(`--max-bytes ${maxBytes} is more than 256MiB`)
      const bounds = {
        rows: limit,
        bytes,
        memory: yield* bytesOf("memory", memory),
        download: yield* bytesOf("max-download", maxDownload)
      }
      const target = yield* openArchive(yield* archiveUrl(archive))
      const text = sql === "-" ? yield* textOfStdin : sql
      yield* printAnswer(yield* runQuery(target, text, bounds), format, bounds)
    }).pipe(
      Effect.onInterrupt(() =>
        Effect.sync(() => {
          process.exitCode = INTERRUPTED
        })
      )
    )
).pipe(Command.withDescription("Run SQL over the files of an archive, with DuckDB"))
