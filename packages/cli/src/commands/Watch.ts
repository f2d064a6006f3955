import type { ControlPlaneClient } from "@runplane/api"
import { type CanonicalEvent, isTerminal } from "@runplane/domain"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { failed } from "../CliFailure.ts"
import { jsonText } from "../JsonText.ts"
import { output } from "../Output.ts"
import { isDecided } from "../story/Outcome.ts"
import { makeEventPrinter, makeStoryBounds, outcomeText } from "../story/Story.ts"

/**
 * Tells a run from its beginning to its end, live or afterwards: the story for people, its events for programs. With
 * `exitStatus` a run that did not complete fails the command.
 */
export const watchRun = Effect.fnUntraced(function* (
  { api, streamRun }: ControlPlaneClient["Service"],
  runId: string,
  { exitStatus }: { readonly exitStatus: boolean }
) {
  const { format, style } = yield* output
  let print = makeEventPrinter(style)
  let bounds = makeStoryBounds()
  const tell = (event: CanonicalEvent) => {
    bounds.note(event)
    return print(event)
  }
  // An unknown run is said before anything is printed.
  const { id } = yield* api.runs.get({ params: { id: runId }, query: {} })
  const events: Array<unknown> = []
  yield* streamRun(id, { afterSeq: 0, snapshots: "first" }).pipe(
    Stream.runForEach((frame) => {
      if (frame.event === "reset") {
        print = makeEventPrinter(style)
        bounds = makeStoryBounds()
        events.length = 0
        return Console.error("the service was restored from a backup: the run is shown again from its beginning")
      }
      if (frame.event !== "canonical_event") return Effect.void
      if (format === "jsonl") return Console.log(jsonText(frame.data))
      if (format === "json") return Effect.sync(() => void events.push(frame.data))
      return tell(frame.data)
    })
  )
  if (format === "json") yield* Console.log(jsonText(events, 2))
  const state = yield* api.runs.state({ params: { id } })
  if (format === "text") {
    const metrics = yield* api.runs.metrics({ params: { id } })
    const answer = isDecided(state) ? yield* api.decisions.why({ params: { id } }) : ""
    const why = typeof answer === "string" ? undefined : answer
    yield* Console.log(`\n${outcomeText(state, metrics, style, { ...bounds.get(), why })}`)
  }
  const { status } = state.run
  if (exitStatus && isTerminal(status) && status !== "completed") return yield* failed(`the run is ${status}`)
})
