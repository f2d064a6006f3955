import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Console from "effect/Console"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { exitCodeOf } from "../../src/CliFailure.ts"
import { clientCommands } from "../../src/commands/ClientCommands.ts"
import { runCli } from "../../src/Program.ts"
import { root } from "../../src/Root.ts"

/** One command of the client, in this process: what it prints on standard output and error, and how it ends. */
export const command = (...args: ReadonlyArray<string>) => {
  const stdout: Array<string> = []
  const stderr: Array<string> = []
  const console = {
    ...globalThis.console,
    log: (text: string) => void stdout.push(text),
    error: (text: string) => void stderr.push(text)
  }
  const printed = () => ({ stdout: stdout.join("\n"), stderr: stderr.join("\n") })
  return runCli(root.pipe(Command.withSubcommands(clientCommands)), args).pipe(
    Effect.match({
      onSuccess: () => ({ code: 0, reason: "", ...printed() }),
      onFailure: (error) => ({ code: exitCodeOf(error), reason: String(error.message), ...printed() })
    }),
    Effect.provideService(Console.Console, console),
    Effect.provide(NodeServices.layer)
  )
}
