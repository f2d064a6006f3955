import type * as Schema from "effect/Schema"
import type { CanonicalEvent } from "./events/CanonicalEvent.ts"
import { textAt } from "./JsonReader.ts"

/** What the times of a run are read from: its record. Times are ISO-8601. */
export interface TimedRun {
  readonly createdAt: string
  readonly startedAt?: string | undefined
  readonly endedAt?: string | undefined
  readonly metadata: Schema.JsonObject
}

/** A discovery precedes its run by the grace and by an outage of the database. A greater difference is ignored. */
const LONGEST_DISCOVERY_MS = 60_000

/** When the service first received something of the session, where that is before the run; Unix milliseconds. */
const discoveredBefore = ({ createdAt, metadata }: TimedRun): number | undefined => {
  const created = Date.parse(createdAt)
  const discovered = Date.parse(textAt(metadata, "discoveredAt") ?? "")
  return discovered <= created && created - discovered <= LONGEST_DISCOVERY_MS ? discovered : undefined
}

/** Whether the session was open before the service created its run (docs/internals/runtime.md#discovery). */
export const isDiscoveredRun = (run: TimedRun): boolean => discoveredBefore(run) !== undefined

/**
 * The zero of a run's story, Unix milliseconds: the creation of the run. The story of a discovered session begins with
 * its discovery, after which its first frames arrive (docs/internals/runtime.md#discovery).
 */
export const storyBegin = (run: TimedRun): number => discoveredBefore(run) ?? Date.parse(run.createdAt)

/**
 * Milliseconds from the zero of a story to a time of it, never negative: a frame may be received before its run is
 * created.
 */
export const storyTime = (begin: number, ts: string): number => Math.max(0, Date.parse(ts) - begin)

/**
 * The times of a story as milliseconds from its zero. A discovered session was open at the zero, so that is the time
 * of `session.bound`, which is recorded with the run.
 */
export const storyClock = (run: TimedRun): ((event: Pick<CanonicalEvent, "ts" | "type">) => number) => {
  const begin = storyBegin(run)
  const isDiscovered = isDiscoveredRun(run)
  return ({ ts, type }) => (isDiscovered && type === "session.bound" ? 0 : storyTime(begin, ts))
}

/**
 * How long a run has taken, or takes until `now` (Unix milliseconds): from its start, or from the discovery of its
 * session, in milliseconds; undefined while it is not started, and when `now` is absent while it has not ended.
 */
export const runDuration = (run: TimedRun, now?: number): number | undefined => {
  const { endedAt, startedAt } = run
  const end = endedAt === undefined ? now : Date.parse(endedAt)
  if (startedAt === undefined || end === undefined) return undefined
  return Math.max(0, end - (discoveredBefore(run) ?? Date.parse(startedAt)))
}
