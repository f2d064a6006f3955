import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Cause from "effect/Cause"
import * as Console from "effect/Console"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import { packsCommand } from "./Commands.ts"

// The tools and the command line print their own failures; this prints the unexpected ones.
const complain = (cause: Cause.Cause<{ readonly _tag: string; readonly message: string }>) =>
  Option.match(Cause.findErrorOption(cause), {
    onSome: (failure) => (failure._tag === "PlatformError" ? Console.error(failure.message) : Effect.void),
    onNone: () => (Cause.hasInterruptsOnly(cause) ? Effect.void : Console.error(Cause.pretty(cause)))
  })

const program = Command.run(packsCommand, { version: "1.0.0" }).pipe(
  Effect.tapCause(complain),
  Effect.provide(NodeServices.layer)
)

NodeRuntime.runMain(program, {
  disableErrorReporting: true,
  teardown: (exit, onExit) => onExit(Exit.isSuccess(exit) ? 0 : 1)
})
