import type { RunDivergence } from "@runplane/api"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { withControlPlane } from "../../Connection.ts"
import { printFacts } from "../../Output.ts"

const runNamed = (name: string) =>
  Argument.String(name).pipe(Argument.withDescription("Id of the run, or of its session"))

/** `runplane runs compare` (docs/reference/runs.md#compare). */
export const compare = Command.make(
  "compare",
  { left: runNamed("left"), right: runNamed("right") },
  ({ left, right }) =>
    withControlPlane(({ api }) =>
      Effect.gen(function* () {
        // The comparison takes ids of runs alone.
        const { id: leftRunId } = yield* api.runs.get({ params: { id: left }, query: {} })
        const { id: rightRunId } = yield* api.runs.get({ params: { id: right }, query: {} })
        const found = yield* api.compare.compare({ payload: { leftRunId, rightRunId } })
        const { added, common, removed } = found.participantsDiff
        yield* printFacts(
          [
            ["Left", `${found.left.runId}, ${found.left.status}`],
            ["Right", `${found.right.runId}, ${found.right.status}`],
            ["Status", found.statusMatch ? "the same" : "different"],
            ["Duration", delta(found.durationDeltaMs, " ms")],
            ["Confidence", delta(found.confidenceDelta, "")],
            ["Participants", `${common.length} in both, ${names(added)} only right, ${names(removed)} only left`],
            ...divergenceFacts(found.divergence)
          ],
          found
        )
      })
    )
).pipe(Command.withDescription("Compare two runs, and find where they part"))

const divergenceFacts = (
  found: typeof RunDivergence.Type | null
): ReadonlyArray<readonly [string, string | undefined]> => {
  if (found === null) return [["They part", "nowhere: they say the same"]]
  const { consequence, left, right } = found
  const { costDeltaUsd, eventsAfterLeft, eventsAfterRight, outcomeLeft, outcomeRight } = consequence
  return [
    ["They part", found.what],
    ["Where", `event ${left.index} on the left, event ${right.index} on the right`],
    ["Outcome", `${outcomeLeft} on the left, ${outcomeRight} on the right`],
    ["After it", `${eventsAfterLeft} events on the left, ${eventsAfterRight} on the right`],
    ["Cost after it", delta(costDeltaUsd, " USD")]
  ]
}

const names = (texts: ReadonlyArray<string>) => (texts.length === 0 ? "none" : texts.join(", "))
const delta = (value: number | undefined, unit: string) =>
  value === undefined ? undefined : `${value > 0 ? "+" : ""}${value}${unit} on the right`
