import * as NodeServices from "@effect/platform-node/NodeServices"
import { makeEventPrinter, oneLine, outcomeText, type Style, styleFor } from "@runplane/cli"
import { LogLevelSwitch, pairsLine, switched } from "@runplane/server"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import { type Mode, runCommandLine } from "./CommandLine.ts"
import { DEMO_SCENARIO, DemoFailed, hasExample, runDemo } from "./demo/Demo.ts"
import { openQuestion } from "./demo/Question.ts"
import * as Screen from "./demo/Screen.ts"
import { type Addresses, Stack } from "./Stack.ts"
import { readStackSettings, type StackSettings } from "./StackSettings.ts"

/** The whole of `npm start`: from its arguments to its end or its failure. */
export const program = (args: ReadonlyArray<string>) =>
  runCommandLine(args, start).pipe(Effect.provide(NodeServices.layer))

/** Starts everything and serves, or shows the example and ends, as the mode says. */
export const start = Effect.fn("Program.start")(function* (mode: Mode) {
  const settings = yield* readStackSettings
  yield* serve(mode).pipe(
    Effect.provide(Layer.provideMerge(Stack.layerClients(settings), Stack.layer(settings))),
    Effect.provide(logging(settings))
  )
})

const serve = Effect.fnUntraced(function* (mode: Mode) {
  const addresses = yield* Stack
  return yield* Effect.raceFirst(show(mode, addresses), addresses.databaseLost)
})

const show = Effect.fnUntraced(function* (mode: Mode, addresses: Addresses) {
  const style = styleFor(process.stdout, process.env)
  yield* Screen.showAddresses(addresses, style)
  const absent = mode !== "serve" && !(yield* hasExample)
  if (mode === "demo-only") {
    return yield* absent ? new DemoFailed({ reason: NO_EXAMPLE }) : showDemo(addresses, style)
  }
  if (absent) yield* Screen.showNoExample(NO_EXAMPLE)
  else if (mode === "demo") {
    const shown = yield* Effect.result(showDemo(addresses, style))
    if (shown._tag === "Success") yield* Screen.showNextSteps(shown.success, addresses, style)
    else yield* printError(shown.failure)
  }
  yield* Screen.showServing(style)
  // With keys no person has signed in yet, and the question would have no reader.
  if (mode === "demo" && !absent && !addresses.keyed) yield* showQuestion(addresses, style)
  return yield* Effect.never
})

const NO_EXAMPLE = `the packs do not hold ${DEMO_SCENARIO}`

const showDemo = Effect.fnUntraced(function* ({ policies }: Addresses, style: Style) {
  yield* Screen.showDemoStart(style)
  const result = yield* runDemo(makeEventPrinter(style), policies)
  yield* Console.log(`\n${outcomeText(result, style)}`)
  return result
})

const showQuestion = (addresses: Addresses, style: Style) =>
  Effect.matchEffect(openQuestion, {
    onSuccess: (question) => Screen.showQuestion(question, addresses, style),
    onFailure: (error) => printError({ message: `the example with a person did not start: ${oneLine(error)}` })
  })

/** One line on stderr. */
export const printError = (error: Parameters<typeof oneLine>[0]) => Console.error(`runplane: ${oneLine(error)}`)

/** The services log to stderr, by default only warnings, so that the log never mixes with the story. */
const logging = ({ logLevel }: StackSettings) => {
  const holder = { level: logLevel }
  return Layer.mergeAll(
    Logger.layer([switched(Logger.withConsoleError(pairsLine), holder)]),
    Layer.succeed(LogLevelSwitch, holder),
    Layer.succeed(References.MinimumLogLevel, "All"),
    // Only the services export spans: those of this program would be missing parents.
    Layer.succeed(References.TracerEnabled, false)
  )
}
