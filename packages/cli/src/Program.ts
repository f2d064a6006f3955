import { RUNPLANE_VERSION } from "@runplane/api"
import { visibleText } from "@runplane/domain"
import type * as Context from "effect/Context"
import * as CliConfig from "effect/cli/CliConfig"
import * as CliError from "effect/cli/CliError"
import * as CliOutput from "effect/cli/CliOutput"
import type * as Command from "effect/cli/Command"
import { runWith } from "effect/cli/Command"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import { CliFailure, usageProblem } from "./CliFailure.ts"
import { HelpOf, WholeCommand } from "./commands/ClientCommands.ts"
import { plainText } from "./narrative/PlainText.ts"

/** Standard output is for data, so log lines go to standard error. A service has a log of its own. */
const logBesideData = Layer.merge(
  Logger.layer([Logger.withConsoleError(Logger.map(Logger.formatLogFmt, visibleText))]),
  Layer.succeed(References.MinimumLogLevel, "Warn")
)

/**
 * Runs a command over the arguments. An unknown argument fails with one line and the code for usage; help and version
 * are printed only by their flags.
 */
export const runCli = <const Name extends string, Input, E, R, ContextInput>(
  command: Command.Command<Name, Input, ContextInput, E, R>,
  args: ReadonlyArray<string>
) =>
  Effect.contextWith(
    (context: Context.Context<Effect.Services<ReturnType<typeof run<Name, Input, E, R, ContextInput>>>>) =>
      run(command, args).pipe(
        Effect.provideService(HelpOf, (names) =>
          run(command, [...names, "--help"]).pipe(
            Effect.provideContext(context),
            // Help runs no command.
            Effect.catchIf((error) => !(error instanceof CliFailure), Effect.die)
          )
        )
      )
  )

const run = <const Name extends string, Input, E, R, ContextInput>(
  command: Command.Command<Name, Input, ContextInput, E, R>,
  args: ReadonlyArray<string>
) =>
  runWith(command, { version: RUNPLANE_VERSION, renderErrors: false })(args.length === 0 ? ["--help"] : args).pipe(
    Effect.provideService(CliOutput.Presenter, presenter),
    Effect.catchIf(CliError.isCliError, (error) => {
      const reason = plainText(reasonOf(error)) || "a command is missing"
      return Effect.fail(usageProblem(`${reason}; --help lists the commands and flags`))
    }),
    Effect.provideService(CliConfig.CliConfig, CliConfig.make({ builtIns: [GlobalFlag.Help, GlobalFlag.Version] })),
    Effect.provideService(WholeCommand, command),
    Effect.provide(logBesideData),
    // A command exports no spans: those of the services would have a missing parent.
    Effect.provideService(References.TracerEnabled, false)
  )

/** A mistyped flag prints one line instead of the long help. */
const presenter: CliOutput.Presenter = {
  present: (event) =>
    event._tag === "Help" && event.reason === "Implicit" ? Effect.void : CliOutput.defaultPresenter.present(event)
}

const reasonOf = (error: CliError.CliError): string =>
  error._tag === "ShowHelp" ? error.errors.map(reasonOf).join("; ") : error.message
