import type { Run } from "@runplane/api"
import { runDuration, scenarioOfRecord } from "@runplane/domain"
import { briefly, type Column } from "../../Table.ts"

/** What is shown of each run in a list; `now` in Unix milliseconds. */
export const runColumns = (now: number): ReadonlyArray<Column<Run>> => [
  { title: "RUN", text: ({ id }) => id },
  { title: "STATUS", text: ({ status }) => status, dropped: 1 },
  { title: "AGE", text: ({ createdAt }) => briefly(now - Date.parse(createdAt)) },
  { title: "TOOK", text: tookOf, dropped: 2 },
  { title: "OUTCOME", text: outcomeOf },
  { title: "SCENARIO", text: sourceOf, dropped: 3 },
  { title: "QUESTION", text: (run) => run.decision?.question ?? run.intent ?? sourceOf(run), elastic: true }
]

const sourceOf = (run: Run): string => scenarioOfRecord(run) ?? `session ${run.runtimeSessionId}`

const tookOf = (run: Run): string => {
  const took = runDuration(run)
  return took === undefined ? "" : briefly(took)
}

/** The verdict of a run that has one, else its status. */
const outcomeOf = ({ decision, status }: Run): string =>
  decision === undefined ||
  decision.verdict === "open" ||
  decision.verdict === "suspended" ||
  (decision.verdict === "none" && status !== "completed")
    ? status
    : decision.word
