import type { Run } from "@runplane/api"
import { runDuration } from "@runplane/domain"
import { briefly, type Column } from "../Table.ts"

/** What is shown of each run in a list; `now` in Unix milliseconds. */
export const runColumns = (now: number): ReadonlyArray<Column<Run>> => [
  { title: "RUN", text: ({ id }) => id },
  { title: "STATUS", text: ({ status }) => status },
  { title: "AGE", text: ({ createdAt }) => briefly(now - Date.parse(createdAt)) },
  { title: "TOOK", text: tookOf },
  {
    title: "SCENARIO",
    text: ({ runtimeSessionId, sourceRef }) => sourceRef ?? `session ${runtimeSessionId}`,
    elastic: true
  }
]

const tookOf = (run: Run): string => {
  const took = runDuration(run)
  return took === undefined ? "" : briefly(took)
}
