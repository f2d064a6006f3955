import type { Mark, MarkDefinition, MarkValue } from "@runplane/domain"
import { type CompletedField, queryValue } from "../query/QueryCompletion.ts"

/** The marks of the listed runs by run. */
export type MarksOfRuns = ReadonlyMap<string, ReadonlyArray<Mark>>

const PREFIX = "mark."

/** The name of the marks of a column (`mark.quality`); undefined for other columns. */
export const markNameOf = (column: string): string | undefined =>
  /^mark\.[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(column) ? column.slice(PREFIX.length) : undefined

export const markColumn = (name: string): string => `${PREFIX}${name}`

/** Runs of one search: a query has at most 2,000 characters, and an id has 36. */
const RUNS = 45

/** The searches that find the marks of these names on these runs. */
export const searchesOf = (names: ReadonlyArray<string>, runs: ReadonlyArray<string>): ReadonlyArray<string> =>
  Array.from({ length: Math.ceil(runs.length / RUNS) }, (_, at) => runs.slice(at * RUNS, (at + 1) * RUNS)).flatMap(
    (part) => names.map((name) => `name:${name} run:(${part.join(",")})`)
  )

/** The values of some marks, the most frequent first, each with its number. */
export const valuesOf = (
  marks: ReadonlyArray<Mark>
): ReadonlyArray<{ readonly value: MarkValue; readonly count: number }> => {
  const counts = new Map<MarkValue, number>()
  for (const { value } of marks) if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts].map(([value, count]) => ({ value, count })).toSorted((one, other) => other.count - one.count)
}

/** Which values of a definition are better; undefined where it does not say it. */
export const betterText = (better: MarkDefinition["better"] | undefined): string | undefined =>
  better && `${better === "higher" ? "↑ " : better === "lower" ? "↓ " : ""}${better} is better`

/** The fields of a search with a field for each defined mark, so that names and values are completed. */
export const withMarkNames = (
  fields: ReadonlyArray<CompletedField>,
  definitions: ReadonlyArray<MarkDefinition>
): ReadonlyArray<CompletedField> =>
  fields.flatMap((field) =>
    field.name !== "mark"
      ? [field]
      : [
          ...definitions.map(({ better, categories, description, kind, name }) => ({
            name: markColumn(name),
            description: `${description ?? `Marks ${name}`}${better === undefined ? "" : `, ${betterText(better)}`}`,
            ...(kind !== "number" && { values: categories?.map(queryValue) ?? ["true", "false"] })
          })),
          field
        ]
  )
