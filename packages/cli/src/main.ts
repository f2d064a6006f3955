import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { clientCommands } from "./commands/ClientCommands.ts"
import { endOfCommand } from "./EndOfCommand.ts"
import { runCli } from "./Program.ts"
import { root } from "./Root.ts"

// The reader of the output may go away, as `head` does.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {})

const program = runCli(root.pipe(Command.withSubcommands(clientCommands)), process.argv.slice(2))

NodeRuntime.runMain(Effect.provide(program, NodeServices.layer), endOfCommand)
