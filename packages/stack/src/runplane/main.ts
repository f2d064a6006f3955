import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { EnvironmentNotes, endOfCommand, failedAndPrinted, runCli } from "@runplane/cli"
import { sentenceOf, unknownSettings } from "@runplane/server"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import { installExitDeadline } from "../ExitDeadline.ts"
import { runplane } from "./Commands.ts"

/** Time between two checks of the parent. Milliseconds. */
const INTERVAL_MS = 500

/**
 * Ends this process in order when the npx that started it has ended. npx runs a command through a shell, and a signal
 * to npx ends the two alone: the program would keep its ports and its database.
 */
const endWithNpx = () => {
  if (process.env["npm_lifecycle_event"] !== "npx") return
  const shell = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === shell) return
    clearInterval(watch)
    process.kill(process.pid, "SIGTERM")
  }, INTERVAL_MS)
  watch.unref()
}

// The reader of the output may go away: that must not end the process in the middle of something.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {})

const args = process.argv.slice(2)
if (args[0] === "dev") installExitDeadline()
endWithNpx()

// An empty PROTO_CANCEL_CALLBACK_HOST means something other than an absent one.
const environment = ConfigProvider.layer(ConfigProvider.fromEnv({ preserveEmptyStrings: true }))

// The tools for packs have printed the faults.
const program = runCli(runplane, args).pipe(
  Effect.catchTag("PacksFaulty", () => Effect.fail(failedAndPrinted)),
  Effect.provideService(EnvironmentNotes, (names) => unknownSettings(names).map(sentenceOf))
)

NodeRuntime.runMain(program.pipe(Effect.provide(NodeServices.layer), Effect.provide(environment)), endOfCommand)
