import { isoTime, type Query, type QueryValue, RunId, relativeSeconds } from "@runplane/domain"
import type { CrossRunFilter } from "../events/CrossRunEvents.ts"

/** A search over events: a filter for the indexes, and conditions that each event is tested with. */
export interface EventQuery {
  readonly filter: CrossRunFilter
  /** The last seq that matches; undefined for no bound. */
  readonly upToSeq: number | undefined
  /** Undefined when the filter is the whole search. */
  readonly conditions: Query | undefined
}

/** Whether every event behind the position matches. */
export const matchesAll = ({ conditions, filter, upToSeq }: EventQuery): boolean => {
  const { afterSeq: _, types, ...others } = filter
  return types.length === 0 && Object.keys(others).length === 0 && conditions === undefined && upToSeq === undefined
}

/** An unknown type, which matches nothing. */
const NO_TYPE = ""

const MILLISECOND = 1

/**
 * Moves conditions of the query into the filter where indexes support them. Relative times of the filter are as of
 * `nowMs`, Unix milliseconds: a stream has those of its begin.
 */
export const eventQueryOf = (filter: CrossRunFilter, query: Query, nowMs: number): EventQuery => {
  const parts = query.kind === "and" ? query.of : [query]
  let found: EventQuery = { filter, upToSeq: undefined, conditions: undefined }
  const others: Array<Query> = []
  for (const part of parts) {
    const narrowed = narrow(found, part, nowMs)
    if (narrowed === undefined) others.push(part)
    else found = narrowed
  }
  return others.length === 0 ? found : { ...found, conditions: { kind: "and", of: others } }
}

/** The search with this condition in its filter; undefined when the filter does not support it. */
const narrow = (search: EventQuery, part: Query, nowMs: number): EventQuery | undefined => {
  if (part.kind !== "compare" && part.kind !== "in" && part.kind !== "range") return undefined
  switch (part.field) {
    case "type": {
      if (part.kind === "range") return undefined
      const types = (part.kind === "in" ? part.values : [part.value]).map(String)
      return withFilter(search, { types: both(search.filter.types, types) })
    }
    case "runId": {
      if (part.kind !== "compare") return undefined
      const runId = RunId.make(String(part.value))
      const isOther = search.filter.runId !== undefined && search.filter.runId !== runId
      return withFilter(search, isOther ? { types: [NO_TYPE] } : { runId })
    }
    case "ts":
      return bounded(part, nowMs, (from, to) => {
        const { afterTs, beforeTs } = search.filter
        return withFilter(search, {
          ...(from !== undefined && { afterTs: latest(afterTs, timeAt(from)) }),
          ...(to !== undefined && { beforeTs: earliest(beforeTs, timeAt(to + MILLISECOND)) })
        })
      })
    case "seq":
      return bounded(part, nowMs, (from, to) => {
        const afterSeq = from === undefined ? 0 : Math.min(Math.ceil(from) - 1, Number.MAX_SAFE_INTEGER)
        const upToSeq = Math.min(search.upToSeq ?? Number.MAX_SAFE_INTEGER, Math.max(0, Math.floor(to ?? Infinity)))
        return {
          ...withFilter(search, { afterSeq: Math.max(search.filter.afterSeq, afterSeq) }),
          upToSeq: upToSeq === Number.MAX_SAFE_INTEGER ? undefined : upToSeq
        }
      })
    default:
      return undefined
  }
}

/** A comparison or range of whole numbers or milliseconds, with both ends included. */
const bounded = (
  part: Extract<Query, { readonly kind: "compare" | "in" | "range" }>,
  nowMs: number,
  use: (from: number | undefined, to: number | undefined) => EventQuery
): EventQuery | undefined => {
  const numberOf = (value: QueryValue) => {
    if (typeof value === "number") return value
    const seconds = relativeSeconds(value)
    return seconds === undefined ? new Date(String(value)).getTime() : nowMs + seconds * 1_000
  }
  if (part.kind === "in") return undefined
  if (part.kind === "range") {
    return use(
      part.from === undefined ? undefined : numberOf(part.from),
      part.to === undefined ? undefined : numberOf(part.to)
    )
  }
  const value = numberOf(part.value)
  switch (part.op) {
    case "eq":
      return use(value, value)
    case "gt":
      return use(Math.floor(value) + 1, undefined)
    case "gte":
      return use(value, undefined)
    case "lt":
      return use(undefined, Math.ceil(value) - 1)
    case "lte":
      return use(undefined, value)
  }
}

const withFilter = (search: EventQuery, more: Partial<CrossRunFilter>): EventQuery => ({
  ...search,
  filter: { ...search.filter, ...more }
})

/** The common types; an empty list means all types. */
const both = (left: ReadonlyArray<string>, right: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (left.length === 0) return right
  const common = left.filter((type) => right.includes(type))
  return common.length === 0 ? [NO_TYPE] : common
}

const FIRST_TIME = "0001-01-01T00:00:00.000Z"
const LAST_TIME = "9999-12-31T23:59:59.999Z"

/** A time as ISO text, within the years that the database supports. */
const timeAt = (millis: number): string => {
  const time = Math.min(Math.max(millis, Date.parse(FIRST_TIME)), Date.parse(LAST_TIME))
  return isoTime(time)
}

const latest = (left: string | undefined, right: string) => (left === undefined || left < right ? right : left)
const earliest = (left: string | undefined, right: string) => (left === undefined || left > right ? right : left)
