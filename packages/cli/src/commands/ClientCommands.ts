import * as Console from "effect/Console"
import * as Context from "effect/Context"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Completions from "effect/cli/Completions"
import * as Effect from "effect/Effect"
import { printedAsJson } from "../Output.ts"
import { alerts } from "./alerts/Alerts.ts"
import { budgets } from "./alerts/Budgets.ts"
import { query } from "./archive/Query.ts"
import { stability } from "./decisions/Stability.ts"
import { events } from "./events/Events.ts"
import { cases } from "./gate/Cases.ts"
import { gate } from "./gate/Gate.ts"
import { launch } from "./launcher/Launch.ts"
import { processes } from "./launcher/Processes.ts"
import { scenarios } from "./launcher/Scenarios.ts"
import { agents } from "./marks/Agents.ts"
import { marks } from "./marks/Marks.ts"
import { mcp } from "./mcp/Mcp.ts"
import { policies } from "./policies/Policies.ts"
import { prices } from "./prices/Prices.ts"
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

/** The commands that need nothing but the services' addresses. */
export const clientCommands = [
  ...[runs, launch, gate, cases, stability, scenarios, processes, events],
  ...[policies, agents, marks, budgets, alerts, webhooks, verify, query, ledger, prices, mcp, completions]
] as const
