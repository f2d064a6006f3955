import { RUNPLANE_VERSION } from "@runplane/api"
import * as Console from "effect/Console"
import * as Context from "effect/Context"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Completions from "effect/cli/Completions"
import * as Effect from "effect/Effect"
import { type CliFailure, usageProblem } from "../CliFailure.ts"
import { printedAsJson } from "../Output.ts"
import { alerts } from "./alerts/Alerts.ts"
import { budgets } from "./alerts/Budgets.ts"
import { query } from "./archive/Query.ts"
import { committee } from "./committees/Committee.ts"
import { stability } from "./decisions/Stability.ts"
import { erase } from "./erasures/Erase.ts"
import { events } from "./events/Events.ts"
import { evidence } from "./evidence/Evidence.ts"
import { cases } from "./gate/Cases.ts"
import { gate } from "./gate/Gate.ts"
import { answer, inbox } from "./launcher/Inbox.ts"
import { launch } from "./launcher/Launch.ts"
import { processes } from "./launcher/Processes.ts"
import { scenarios } from "./launcher/Scenarios.ts"
import { agents } from "./marks/Agents.ts"
import { marks } from "./marks/Marks.ts"
import { mcp } from "./mcp/Mcp.ts"
import { policies } from "./policies/Policies.ts"
import { prices } from "./prices/Prices.ts"
import { profiles } from "./profiles/Profiles.ts"
import { runs } from "./runs/Runs.ts"
import { ledger } from "./seals/Ledger.ts"
import { verify } from "./seals/Verify.ts"
import { webhooks } from "./webhooks/Webhooks.ts"

/** The whole command, which the completions are of; `runCli` says it. */
export const WholeCommand = Context.Reference<Command.Command.Any | undefined>("runplane/cli/WholeCommand", {
  defaultValue: () => undefined
})

/** `runplane completions zsh > _runplane` */
export const completions = Command.make(
  "completions",
  {
    shell: Argument.Literals("shell", ["bash", "zsh", "fish"]).pipe(Argument.withDescription("The shell to write for"))
  },
  ({ shell }) =>
    Effect.gen(function* () {
      const whole = yield* WholeCommand
      if (whole === undefined) return
      const generated = Completions.generate("runplane", shell, Completions.fromCommand(whole))
      // The generator's comment on how to install it names a flag; here it is a command.
      const script = generated.replace("runplane --completions", "runplane completions")
      if (yield* printedAsJson({ shell, script })) return
      yield* Console.log(script)
    })
).pipe(Command.withDescription("Print the completion script of a shell"))

/** The help of a command, whose names are given without `runplane`; `runCli` provides it. */
export const HelpOf = Context.Reference<(names: ReadonlyArray<string>) => Effect.Effect<void, CliFailure>>(
  "runplane/cli/HelpOf",
  { defaultValue: () => () => Effect.void }
)

/** `runplane help runs list` */
const help = Command.make(
  "help",
  {
    names: Argument.String("command").pipe(
      Argument.withDescription("The command, such as runs list; without one, all commands"),
      Argument.variadic()
    )
  },
  ({ names }) =>
    Effect.gen(function* () {
      const whole = yield* WholeCommand
      let current = whole
      for (const name of names) {
        const below = current?.subcommands.flatMap(({ commands }) => [...commands]) ?? []
        current = below.find((command) => command.name === name)
        if (current === undefined) {
          return yield* usageProblem(`"${names.join(" ")}" is not a command; runplane help lists the commands`)
        }
      }
      const print = yield* HelpOf
      yield* print(names)
    })
).pipe(Command.withDescription("Show the flags and arguments of a command, as --help does"))

const version = Command.make("version", {}, () =>
  Effect.gen(function* () {
    if (yield* printedAsJson({ version: RUNPLANE_VERSION })) return
    yield* Console.log(`runplane v${RUNPLANE_VERSION}`)
  })
).pipe(Command.withDescription("Show the version"))

/** The commands that need nothing but the services' addresses. */
export const clientCommands = [
  ...[runs, launch, gate, cases, stability, scenarios, processes, inbox, answer, events, evidence],
  ...[
    policies,
    agents,
    committee,
    marks,
    budgets,
    alerts,
    webhooks,
    verify,
    erase,
    query,
    ledger,
    prices,
    mcp,
    profiles
  ],
  ...[completions, help, version]
] as const
