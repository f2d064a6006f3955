import * as Console from "effect/Console"
import * as Context from "effect/Context"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Completions from "effect/cli/Completions"
import * as Effect from "effect/Effect"
import { printedAsJson } from "../Output.ts"
import { agents } from "./Agents.ts"
import { alerts } from "./Alerts.ts"
import { budgets } from "./Budgets.ts"
import { cases } from "./Cases.ts"
import { events } from "./Events.ts"
import { gate } from "./Gate.ts"
import { launch } from "./Launch.ts"
import { ledger } from "./Ledger.ts"
import { marks } from "./Marks.ts"
import { mcp } from "./Mcp.ts"
import { policies } from "./Policies.ts"
import { prices } from "./Prices.ts"
import { processes } from "./Processes.ts"
import { query } from "./Query.ts"
import { runs } from "./Runs.ts"
import { scenarios } from "./Scenarios.ts"
import { stability } from "./Stability.ts"
import { verify } from "./Verify.ts"
import { webhooks } from "./Webhooks.ts"

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

/** The commands that need nothing but the services' addresses. */
export const clientCommands = [
  ...[runs, launch, gate, cases, stability, scenarios, processes, events],
  ...[policies, agents, marks, budgets, alerts, webhooks, verify, query, ledger, prices, mcp, completions]
] as const
