import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Cause from "effect/Cause"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import { installExitDeadline } from "./ExitDeadline.ts"
import { printError, program } from "./Program.ts"

// The reader of the output may go away: that must not end the process.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {})

installExitDeadline()

// A failed start prints one line; a defect prints its whole trace.
const report = (cause: Cause.Cause<{ readonly message: string }>) =>
  Cause.hasInterruptsOnly(cause)
    ? Effect.void
    : Option.match(Cause.findErrorOption(cause), {
        onSome: printError,
        onNone: () => Console.error(`runplane: unexpected failure\n${Cause.pretty(cause)}`)
      })

// An empty PROTO_CANCEL_CALLBACK_HOST means something other than an absent one.
const environment = ConfigProvider.layer(ConfigProvider.fromEnv({ preserveEmptyStrings: true }))

NodeRuntime.runMain(Effect.tapCause(program(process.argv.slice(2)), report).pipe(Effect.provide(environment)), {
  disableErrorReporting: true,
  // Ctrl-C is the ordinary way to end it.
  teardown: (exit, onExit) => onExit(Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause) ? 0 : 1)
})
