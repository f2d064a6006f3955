import { queryValue } from "./QueryCompletion.ts"

/**
 * A condition of a search that a facet can edit: at the top level, as `name:value` or `name:(one,other)`.
 */
const conditionOf = (name: string): RegExp => new RegExp(`(^|\\s)${name}:(\\(([^()]*)\\)|"[^"]*"|[^\\s()"]+)(?=\\s|$)`)

/** Whether the condition is within parentheses, where a facet cannot edit it. */
const isNested = (q: string, at: number): boolean => {
  const before = q.slice(0, at).replace(/"[^"]*"/g, "")
  return (before.match(/\(/g) ?? []).length !== (before.match(/\)/g) ?? []).length
}

/** The values of a field in a search; none when the search has no such condition that a facet can show. */
export const valuesIn = (q: string, name: string): ReadonlyArray<string> => {
  const found = conditionOf(name).exec(q)
  if (found === null || isNested(q, found.index)) return []
  const [, , value = "", listed] = found
  const values = listed === undefined ? [value] : listed.split(",")
  return values.map((text) => text.trim().replace(/^"(.*)"$/, "$1"))
}

/** The search with these values of a field instead of those it had; without the field when there are none. */
export const withValues = (q: string, name: string, values: ReadonlyArray<string>): string => {
  const [only, ...others] = values.map(queryValue)
  const condition =
    only === undefined ? "" : others.length === 0 ? `${name}:${only}` : `${name}:(${[only, ...others].join(",")})`
  const found = conditionOf(name).exec(q)
  if (found === null || isNested(q, found.index)) return `${q} ${condition}`.trim()
  const rest = `${q.slice(0, found.index)} ${condition} ${q.slice(found.index + found[0].length)}`
  return rest.replace(/\s+/g, " ").trim()
}
