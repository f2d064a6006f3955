import type { Run } from "@runplane/api"
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

const tookOf = ({ endedAt, startedAt }: Run): string =>
  startedAt === undefined || endedAt === undefined
    ? ""
    : briefly(Math.max(0, Date.parse(endedAt) - Date.parse(startedAt)))
