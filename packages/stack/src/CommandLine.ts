import { settingsHelp } from "@runplane/server"
import * as CliConfig from "effect/cli/CliConfig"
import * as CliError from "effect/cli/CliError"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

/** After the start: show the example and keep serving, only serve, or end with the example. */
export type Mode = "demo" | "serve" | "demo-only"

/** The command line has an unknown argument. */
export class UsageProblem extends Data.TaggedError("UsageProblem")<{ readonly reason: string }> {
  override get message() {
    return `${this.reason}; npm start -- --help lists the flags`
  }
}

const DESCRIPTION = `Runs the whole of Runplane on this machine and shows one example run.

Settings (environment):

${settingsHelp("stack")}`

/** The flags of `npm start` and `runplane dev`. */
export const modeFlags = {
  demo: Flag.Boolean("demo").pipe(
    Flag.withDescription("Run the example after the start; --no-demo only starts and serves"),
    Flag.withDefault(true)
  ),
  only: Flag.Boolean("demo-only").pipe(
    Flag.withDescription("Start, run the example, stop; exit code 0 when it was decided"),
    Flag.withDefault(false)
  )
}

/** The mode of the flags. */
export const modeOf = ({
  demo,
  only
}: {
  readonly demo: boolean
  readonly only: boolean
}): Effect.Effect<Mode, UsageProblem> =>
  demo || !only
    ? Effect.succeed(only ? "demo-only" : demo ? "demo" : "serve")
    : Effect.fail(new UsageProblem({ reason: "--no-demo and --demo-only exclude each other" }))

/**
 * `npm start`: parses the arguments after `npm start --` and passes their mode to `run`. Fails with `UsageProblem`, one
 * line, for unknown arguments.
 */
export const runCommandLine = <E, R>(args: ReadonlyArray<string>, run: (mode: Mode) => Effect.Effect<void, E, R>) => {
  const command = Command.make(
    "npm start --",
    modeFlags,
    ({ demo, only }): Effect.Effect<void, E | UsageProblem, R> => Effect.flatMap(modeOf({ demo, only }), run)
  ).pipe(Command.withDescription(DESCRIPTION))
  return Command.runWith(command, { version: VERSION, renderErrors: false })(args).pipe(
    Effect.provideService(CliOutput.Presenter, PRESENTER),
    Effect.catchIf(CliError.isCliError, (error) => Effect.fail(new UsageProblem({ reason: reasonOf(error) }))),
    Effect.provideService(CliConfig.CliConfig, CliConfig.make({ builtIns: [GlobalFlag.Help] }))
  )
}

/** A mistyped flag prints one line instead of the long help. */
const PRESENTER: CliOutput.Presenter = {
  present: (event) =>
    event._tag === "Help" && event.reason === "Implicit" ? Effect.void : CliOutput.defaultPresenter.present(event)
}

const VERSION = "0.1.0"

const reasonOf = (error: CliError.CliError): string =>
  error._tag === "ShowHelp" ? error.errors.map(reasonOf).join("; ") : error.message
