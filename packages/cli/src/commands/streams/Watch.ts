import { type ControlPlaneClient, type LogStreamFailure, type RunStreamFailure, rootCauseOf } from "@runplane/api"
import { isTerminal } from "@runplane/domain"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { failed } from "../../CliFailure.ts"
import { jsonText } from "../../JsonText.ts"
import { makeEventPrinter, outcomeText } from "../../narrative/Narrative.ts"
import { plainText } from "../../narrative/PlainText.ts"
import { readOutcome } from "../../narrative/RunOutcome.ts"
import { printSilences } from "../../narrative/Silences.ts"
import { output } from "../../Output.ts"

/** Prints on standard error why the connection of a stream was lost, before it is made again. */
export const printInterruption = (failure: LogStreamFailure | RunStreamFailure) =>
  Console.error(`the connection is lost (${plainText(rootCauseOf(failure).message)}); trying again`)

/**
 * Shows a run from its beginning to its end, live or afterwards: the narrative for people, its events for programs.
 * With `exitStatus` a run that did not complete fails the command.
 */
export const watchRun = Effect.fnUntraced(function* (
  { api, streamRun }: ControlPlaneClient["Service"],
  runId: string,
  { exitStatus }: { readonly exitStatus: boolean }
) {
  const { format, style } = yield* output
  // An unknown run fails before any output.
  const run = yield* api.runs.get({ params: { id: runId }, query: {} })
  const { id } = run
  let print = makeEventPrinter(style, run)
  const events: Array<unknown> = []
  let received = 0
  let isFailureShown = false
  const shown = streamRun(id, { afterSeq: 0, snapshots: "first", onInterruption: printInterruption }).pipe(
    Stream.runForEach((frame) => {
      if (frame.event === "canonical_event") {
        received += 1
        isFailureShown ||= frame.data.type === "run.failed"
      }
      if (frame.event === "reset") {
        print = makeEventPrinter(style, run)
        events.length = 0
        return Console.error("the service was restored from a backup: the run is shown again from its beginning")
      }
      if (frame.event !== "canonical_event") return Effect.void
      if (format === "jsonl") return Console.log(jsonText(frame.data))
      if (format === "json") return Effect.sync(() => void events.push(frame.data))
      return print(frame.data)
    })
  )
  const waitingFor = Effect.map(api.decisions.forecast({ params: { id }, query: {} }), (answer) => answer.waitingFor)
  const silences = printSilences(waitingFor, () => received)
  yield* format === "text" ? Effect.raceFirst(shown, silences) : shown
  if (format === "json") yield* Console.log(jsonText(events, 2))
  const outcome = yield* readOutcome(api, id)
  // The last line of the narrative has the error.
  const narrative = isFailureShown ? { ...outcome.narrative, error: undefined } : outcome.narrative
  if (format === "text") yield* Console.log(`\n${outcomeText({ ...outcome, narrative }, style)}`)
  const { status } = outcome.state.run
  if (exitStatus && isTerminal(status) && status !== "completed") return yield* failed(`the run is ${status}`)
})
