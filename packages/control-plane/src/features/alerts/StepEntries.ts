import {
  type AlertRule,
  byMeasure,
  type CanonicalEvent,
  type CountedMark,
  type Counting,
  type Entry,
  entriesOfEvent,
  entriesOfMark,
  measureOf,
  noMemory,
  type RunMemory,
  remember,
  type Sliced
} from "@runplane/domain"
import * as Effect from "effect/Effect"
import { makeOutOfReach } from "./OutOfReach.ts"
import type { Matches } from "./RuleMatches.ts"

/** A rule, and the position after which it counts events. */
export interface ActiveRule {
  readonly rule: AlertRule
  readonly fromSeq: number
}

/** Runs a long computation: the trial between other requests, the live evaluator at once. */
export type RunSlices = <A>(slices: Sliced<A>) => Effect.Effect<A>

/** Adds events to the memories of their runs, and returns what they and the marks add to the counters, in order. */
export const makeStepEntries = Effect.fnUntraced(function* (counting: Counting, inSlices: RunSlices) {
  const outOfReach = yield* makeOutOfReach
  return Effect.fnUntraced(function* (
    events: ReadonlyArray<CanonicalEvent>,
    marks: ReadonlyArray<CountedMark>,
    rules: ReadonlyArray<ActiveRule>,
    { runs }: Matches,
    memories: ReadonlyMap<string, RunMemory>
  ) {
    const byRun = Map.groupBy(events, ({ runId }) => runId as string)
    const reached = new Map<string, number>()
    const rulesOf = new Map<string, ReadonlyArray<ActiveRule>>()
    for (const run of runs.values()) {
      const own = rules.filter(({ rule }) => rule.match === "" || run.matches.has(rule.match))
      rulesOf.set(run.id, own)
      const memory = memories.get(run.id)
      if (memory === undefined || !own.some(({ rule }) => measureOf(rule.measure).needsForecast === true)) continue
      const seq = yield* outOfReach(run.id, memory, byRun.get(run.id) ?? [])
      if (seq === undefined) continue
      memory.isOutOfReach = true
      reached.set(run.id, seq)
    }
    // Most runs have the same rules: they are grouped once.
    const groups = new Map<ReadonlyArray<ActiveRule>, ReturnType<typeof byMeasure>>()
    const groupOf = (own: ReadonlyArray<ActiveRule>, seq: number) => {
      const isYoung = own.some(({ fromSeq }) => fromSeq >= seq)
      if (isYoung) return byMeasure(own.flatMap(({ fromSeq, rule }) => (fromSeq < seq ? [rule] : [])))
      const found = groups.get(own) ?? byMeasure(own.map(({ rule }) => rule))
      groups.set(own, found)
      return found
    }
    const entries: Array<Entry> = []
    function* count(): Sliced<void> {
      for (const event of events) {
        const run = runs.get(event.runId)
        const own = rulesOf.get(event.runId)
        if (run === undefined || own === undefined) continue
        const facts = remember(memories.get(event.runId) ?? noMemory(), event)
        const isReached = reached.get(event.runId) === event.seq
        entries.push(...entriesOfEvent(groupOf(own, event.seq), run, event, facts, isReached, counting))
        yield
      }
      for (const mark of marks) {
        const run = runs.get(mark.runId)
        if (run === undefined) continue
        const own = rulesOf.get(mark.runId) ?? []
        entries.push(...entriesOfMark(byMeasure(own.map(({ rule }) => rule)), run, mark, counting.periods))
        yield
      }
    }
    yield* inSlices(count())
    return { entries, rulesOf }
  })
})
