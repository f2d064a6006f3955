import { clientCommands, failedAndPrinted, output, printedAsJson, root, usageProblem } from "@runplane/cli"
import {
  archiveOnce,
  compactArchive,
  databaseSettings,
  layerFromSettings as layerControlPlane,
  migrateDatabase
} from "@runplane/control-plane"
import { layerFromSettings as layerLauncher, packsCommand, ReportFormat } from "@runplane/launcher"
import { layerFromSettings as layerSandbox } from "@runplane/sandbox"
import { PROGRAMS, printSettings, settingsInForce } from "@runplane/server"
import * as Console from "effect/Console"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { modeFlags, modeOf } from "../CommandLine.ts"
import { start } from "../Program.ts"
import { backup, restore } from "./BackupCommands.ts"
import { inOneLine, unlessInterrupted } from "./Ends.ts"

/** A program that runs until a signal prints a log, not data. */
const withoutJson = Effect.gen(function* () {
  const { format } = yield* output
  if (format !== "text") return yield* usageProblem(`a program that serves prints no data, so it has no --${format}`)
})

const dev = Command.make("dev", modeFlags, (flags) =>
  modeOf(flags).pipe(
    Effect.mapError(({ reason }) => usageProblem(reason)),
    Effect.tap(withoutJson),
    Effect.flatMap((mode) => inOneLine(start(mode)))
  )
).pipe(Command.withDescription("Start everything on this machine and show one example run"))

/** A service that does not start has logged the reason. */
const served = <E>(layer: Layer.Layer<never, E>) =>
  Effect.andThen(
    withoutJson,
    Effect.mapError(Layer.launch(layer), () => failedAndPrinted)
  )

const serve = Command.make("serve").pipe(
  Command.withDescription("Run one service until a signal; docs/reference/settings.md lists its settings"),
  Command.withSubcommands([
    Command.make("control-plane", {}, () => served(layerControlPlane)).pipe(
      Command.withDescription("The run control plane")
    ),
    Command.make("launcher", {}, () => served(layerLauncher)).pipe(
      Command.withDescription("The scenario launch service")
    ),
    Command.make("sandbox", {}, () => Effect.andThen(withoutJson, inOneLine(Layer.launch(layerSandbox)))).pipe(
      Command.withDescription("The development runtime")
    ),
    Command.make("all", {}, () => Effect.andThen(withoutJson, inOneLine(start("serve")))).pipe(
      Command.withDescription("All of them with a database of their own, on this machine")
    )
  ])
)

const migrate = Command.make("migrate", {}, () =>
  Effect.gen(function* () {
    // Flags that contradict each other fail before any change of the database.
    yield* output
    const applied = yield* inOneLine(Effect.flatMap(databaseSettings, migrateDatabase))
    if (yield* printedAsJson({ applied: applied.map(([id, name]) => ({ id, name })) })) return
    for (const [id, name] of applied) yield* Console.log(`applied ${id} ${name}`)
    if (applied.length === 0) yield* Console.log("the schema is up to date")
  })
).pipe(Command.withDescription("Bring the schema of DATABASE_URL up to date"))

const CONTINUES = "the next command continues"

const archive = Command.make("archive", {}, () =>
  Effect.gen(function* () {
    yield* output
    const { bytes, files, rows } = yield* unlessInterrupted(inOneLine(archiveOnce), CONTINUES)
    if (yield* printedAsJson({ files, rows, bytes })) return
    yield* Console.log(
      files === 0 ? "the archive is up to date" : `wrote ${rows} rows to ${files} files, ${bytes} bytes`
    )
  })
).pipe(
  Command.withDescription("Write the log of DATABASE_URL to ARCHIVE_URL once; the service does so by itself"),
  Command.withSubcommands([
    Command.make("compact", {}, () =>
      Effect.gen(function* () {
        yield* output
        const { files, removed, rows } = yield* unlessInterrupted(inOneLine(compactArchive), CONTINUES)
        if (yield* printedAsJson({ files, removed, rows })) return
        yield* Console.log(`wrote ${files} files, removed ${removed} files and ${rows} rows`)
      })
    ).pipe(Command.withDescription("Merge the small files of closed days, and remove the rows of deleted runs"))
  ])
)

const settings = Command.make(
  "settings",
  {
    program: Argument.Literals("program", [...PROGRAMS]).pipe(Argument.withDescription("Whose settings"))
  },
  ({ program }) =>
    Effect.gen(function* () {
      const { format } = yield* output
      if (format === "text") return yield* inOneLine(printSettings(program))
      const inForce = yield* inOneLine(settingsInForce(program))
      for (const value of format === "json" ? [inForce] : inForce) yield* printedAsJson(value)
    })
).pipe(Command.withDescription("Print the settings that a program would start with; secrets are masked"))

const packs = packsCommand.pipe(
  Command.withDescription("Check and make scenario packs"),
  Command.provideEffect(
    ReportFormat,
    Effect.map(output, ({ format }) => format)
  )
)

/** The whole `runplane`: the client, and the programs that it calls. */
export const runplane = root.pipe(
  Command.withSubcommands([...clientCommands, dev, serve, migrate, backup, restore, archive, settings, packs])
)
