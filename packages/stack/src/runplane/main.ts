import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { EnvironmentNotes, endOfCommand, failedAndSaid, runCli } from "@runplane/cli"
import { sentenceOf, unknownSettings } from "@runplane/server"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import { installExitDeadline } from "../ExitDeadline.ts"
import { runplane } from "./Commands.ts"
import { endWithNpx } from "./NpxEnd.ts"

// The reader of the output may go away: that must not end the process in the middle of something.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {})

const args = process.argv.slice(2)
if (args[0] === "dev") installExitDeadline()
endWithNpx()

// An empty PROTO_CANCEL_CALLBACK_HOST means something other than an absent one.
const environment = ConfigProvider.layer(ConfigProvider.fromEnv({ preserveEmptyStrings: true }))

// The tools for packs have said what is wrong.
const program = runCli(runplane, args).pipe(
  Effect.catchTag("PacksFaulty", () => Effect.fail(failedAndSaid)),
  Effect.provideService(EnvironmentNotes, (names) => unknownSettings(names).map(sentenceOf))
)

NodeRuntime.runMain(program.pipe(Effect.provide(NodeServices.layer), Effect.provide(environment)), endOfCommand)
