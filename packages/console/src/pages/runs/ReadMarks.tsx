import type { Mark } from "@runplane/domain"
import { useQueries } from "@tanstack/react-query"
import { useEffect } from "react"
import { call } from "../../client/Client.ts"
import { type MarksOfRuns, searchesOf } from "../../view/marks/MarkColumns.ts"

const MOST = 500
const FRESH_MS = 10_000

interface ReadMarksProps {
  readonly names: ReadonlyArray<string>
  readonly runs: ReadonlyArray<string>
  /** Gives the marks to the rows. */
  readonly setMarks: (marks: MarksOfRuns) => void
}

/** Reads the marks of the columns for the listed runs. */
export default function ReadMarks({ names, runs, setMarks }: ReadMarksProps) {
  const marks = useQueries({
    queries: searchesOf(names, runs).map((q) => ({
      queryKey: ["marks of runs", q],
      staleTime: FRESH_MS,
      queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
        call((api) => api.markReports.list({ query: { q, limit: MOST, offset: 0 } }), signal)
    })),
    combine: (answers) =>
      answers.some(({ data }) => data === undefined) ? undefined : answers.flatMap(({ data }) => data?.data ?? [])
  })
  const known = JSON.stringify([runs, marks?.map(({ id }) => id)])
  useEffect(() => {
    if (marks === undefined) return
    const byRun = new Map<string, Array<Mark>>(runs.map((run) => [run, []]))
    for (const mark of marks) byRun.get(mark.runId)?.push(mark)
    setMarks(byRun)
  }, [known, setMarks])
  return null
}
