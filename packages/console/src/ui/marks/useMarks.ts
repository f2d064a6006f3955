import { type ControlPlaneCalls, pairWithPeople } from "@runplane/api"
import type { Mark, MarkDefinition } from "@runplane/domain"
import { type UseQueryResult, useQuery } from "@tanstack/react-query"
import * as Effect from "effect/Effect"
import { useMemo } from "react"
import { call } from "../../client/Client.ts"
import { assignMarks, judgedNames } from "../../view/marks/Marks.ts"
import { useRead } from "../useRead.ts"
import type { ShownMarks } from "./MarksHere.ts"

/** Marks of a request, and most marks of a run that the browser reads. */
const PAGE = 500
const MOST = 2_000
const FRESH_MS = 60_000

/** What a query of the marks of a run is called; a change of marks invalidates it. */
export const marksKey = (runId: string): ReadonlyArray<string> => ["marks", runId]

/** What a query of the marks of the caller is called. */
export const MARKS_OF_ME = ["marks of me"]

const readMarks = (runId: string, history: boolean) => (api: ControlPlaneCalls) =>
  Effect.gen(function* () {
    const marks: Array<Mark> = []
    for (;;) {
      const query = { limit: PAGE, offset: marks.length, history }
      const { data, total } = yield* api.marks.list({ params: { id: runId }, query })
      marks.push(...data)
      if (data.length === 0 || marks.length >= Math.min(total, MOST)) return { marks, total }
    }
  })

/** The current marks of a run, the newest first; at most 2,000. */
export const useRunMarks = (
  runId: string
): UseQueryResult<{ readonly marks: ReadonlyArray<Mark>; readonly total: number }> =>
  useRead(marksKey(runId), readMarks(runId, false))

/** The same with the replaced and the deleted ones. */
export const useMarkHistory = (
  runId: string,
  enabled: boolean
): UseQueryResult<{ readonly marks: ReadonlyArray<Mark>; readonly total: number }> =>
  useRead([...marksKey(runId), "history"], readMarks(runId, true), { enabled })

export const DEFINITIONS_KEY = ["mark definitions"]

/** The definitions of all names. */
export const useDefinitions = (): UseQueryResult<ReadonlyArray<MarkDefinition>> =>
  useQuery({
    queryKey: DEFINITIONS_KEY,
    queryFn: ({ signal }) => call((api) => api.marks.definitions(), signal),
    staleTime: FRESH_MS
  })

/**
 * The agreement with people of the judge of a mark; undefined for other marks, and without common targets. A name whose
 * agreement cannot be read has none.
 */
export const useReliability = (marks: ReadonlyArray<Mark>): ShownMarks["reliabilityOf"] => {
  const names = judgedNames(marks).toSorted()
  const { data } = useQuery({
    queryKey: ["mark agreements", names],
    enabled: names.length > 0,
    staleTime: FRESH_MS,
    queryFn: ({ signal }) =>
      call(
        (api) =>
          Effect.forEach(
            names,
            (name) => Effect.option(api.markReports.agreement({ query: { name, sources: ["human", "judge"] } })),
            { concurrency: 4 }
          ),
        signal
      )
  })
  return useMemo(() => {
    const agreements = new Map(
      (data ?? []).flatMap((found) => (found._tag === "Some" ? found.value.data.map((one) => [one.name, one]) : []))
    )
    return ({ judge, name, source }) =>
      source === "judge" && judge !== undefined ? pairWithPeople(agreements.get(name), judge.name) : undefined
  }, [data])
}

const NO_MARKS: ReadonlyArray<Mark> = []

/** The marks of a run with their definitions and the reliability of their judges. `shown` leaves marks out. */
export const useShownMarks = (
  runId: string,
  shown: (marks: ReadonlyArray<Mark>) => ReadonlyArray<Mark> = all,
  isReadOnly = false
): ShownMarks => {
  const { data } = useRunMarks(runId)
  const definitions = useDefinitions().data
  const found = data?.marks ?? NO_MARKS
  const marks = useMemo(() => shown(found), [found, shown])
  const reliability = useReliability(marks)
  return useMemo(
    () => ({
      runId,
      marks,
      total: data?.total ?? 0,
      placed: assignMarks(marks),
      isReadOnly,
      definitionOf: (name) => definitions?.find((definition) => definition.name === name),
      reliabilityOf: reliability
    }),
    [runId, marks, data?.total, isReadOnly, definitions, reliability]
  )
}

/** All marks, for `useShownMarks`. */
export const all = (marks: ReadonlyArray<Mark>) => marks
