import {
  type AlertRule,
  type CanonicalEvent,
  type CountedMark,
  type CounterRow,
  type Counting,
  compareDue,
  type Deadline,
  type DueRun,
  deadlinesOf,
  type Entry,
  hasDeadline,
  type KnownFiring,
  makeRuleEvaluator,
  measureOf,
  type NewFiring,
  noMemory,
  type Period,
  type Resolution,
  type RuleEvaluator,
  type RunMemory,
  type Sliced
} from "@runplane/domain"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Rechecked } from "./ChangedRules.ts"
import type { Matches } from "./RuleMatches.ts"
import { type ActiveRule, makeStepEntries, type RunSlices } from "./StepEntries.ts"

/** A counter of a rule that a step reads. */
export interface NeededCounter {
  readonly rule: AlertRule
  readonly key: string
  readonly period: Period
  /** Of a call that arrived late in a rolling window: the minute of its arrival, which ends the window. */
  readonly firesIn?: Period | undefined
}

export type EventsByRun = ReadonlyMap<string, ReadonlyArray<CanonicalEvent>>

/** What a step compares because time has passed or a rule has changed, without an event. */
export interface ClockWork {
  readonly due: ReadonlyArray<DueRun>
  readonly rolling: ReadonlyArray<NeededCounter>
  readonly changed: ReadonlyArray<Rechecked>
}

/** What a step writes. */
export interface StepResult {
  readonly entries: ReadonlyArray<Entry>
  readonly counters: ReadonlyArray<CounterRow>
  readonly firings: ReadonlyArray<NewFiring>
  readonly resolutions: ReadonlyArray<Resolution>
  readonly deadlines: ReadonlyArray<Deadline>
  /** Undefined when no rule needs them. */
  readonly memories: ReadonlyMap<string, RunMemory> | undefined
  /** The runs of the events and marks. */
  readonly runs: Matches["runs"]
}

/** What steps read and write: rows of the database for the live evaluator, the memory of the process for a trial. */
export interface StepStore {
  /** A memory for each of the runs, from before these events. */
  readonly memories: (byRun: EventsByRun) => Effect.Effect<ReadonlyMap<string, RunMemory>, SqlError>
  /** Undefined where events are counted again that are older than now: the clock is not theirs. */
  readonly clock?: (rules: ReadonlyMap<string, AlertRule>) => Effect.Effect<ClockWork, SqlError>
  /** The counters, with the earlier minutes of rolling windows, and the firings that may not repeat. */
  readonly load: (
    needed: ReadonlyArray<NeededCounter>
  ) => Effect.Effect<
    { readonly counters: ReadonlyArray<CounterRow>; readonly firings: ReadonlyArray<KnownFiring> },
    SqlError
  >
  readonly save: (result: StepResult) => Effect.Effect<void, SqlError>
}

/** The memories of runs of a process that has all events of them. */
export const remembered =
  (memories: Map<string, RunMemory>): StepStore["memories"] =>
  (byRun) =>
    Effect.sync(() => {
      for (const id of byRun.keys()) if (!memories.has(id)) memories.set(id, noMemory())
      return memories
    })

export interface StepInput {
  readonly events: ReadonlyArray<CanonicalEvent>
  readonly marks: ReadonlyArray<CountedMark>
  readonly rules: ReadonlyArray<ActiveRule>
  readonly found: Matches
  /** Unix milliseconds. */
  readonly now: number
}

const NO_CLOCK: ClockWork = { due: [], rolling: [], changed: [] }

/**
 * Folds events, marks and the time into the counters of rules, and finds the levels that they reach. The live evaluator
 * and the trial of a rule take the same steps, over stores of their own.
 */
export const makeAlertStep = Effect.fnUntraced(function* (counting: Counting, inSlices: RunSlices) {
  const entriesFor = yield* makeStepEntries(counting, inSlices)
  return Effect.fnUntraced(function* (store: StepStore, { events, found, marks, now, rules }: StepInput) {
    const byRun = Map.groupBy(events, ({ runId }) => runId as string)
    const isRemembering = rules.some(({ rule }) => measureOf(rule.measure).needsMemory)
    const memories = isRemembering ? yield* store.memories(byRun) : new Map<string, RunMemory>()
    const { entries, rulesOf } = yield* entriesFor(events, marks, rules, found, memories)
    const all = new Map(rules.map(({ rule }) => [rule.id, rule]))
    const { changed, due, rolling } = store.clock === undefined ? NO_CLOCK : yield* store.clock(all)
    const watched =
      store.clock === undefined
        ? []
        : [...byRun.keys()].flatMap((runId) =>
            (rulesOf.get(runId) ?? []).flatMap(({ rule }) =>
              hasDeadline(rule) ? [{ rule, runId, period: counting.periods(rule, runId, now) }] : []
            )
          )
    const ofRuns = [...due, ...watched].map(({ period, rule, runId: key }) => ({ rule, key, period }))
    const { counters, firings } = yield* store.load([...entries, ...rolling, ...changed, ...ofRuns])
    const evaluator = makeRuleEvaluator(all, counters, firings, counting.keptMs)
    yield* inSlices(takeAll(evaluator, entries))
    for (const { key, rule } of rolling) evaluator.roll(rule, key, now)
    for (const { key, period, rule } of changed) evaluator.recheck(rule, key, period, now)
    const again = compareDue(due, evaluator, now)
    const deadlines = deadlinesOf(watched, memories, evaluator)
    // The deadlines of runs with new events replace those that were due.
    const replaced = new Set(deadlines.map(({ ruleId, runId }) => `${ruleId} ${runId}`))
    yield* store.save({
      ...evaluator.result(),
      ...{ entries, runs: found.runs, memories: isRemembering ? memories : undefined },
      deadlines: [...deadlines, ...again.filter(({ ruleId, runId }) => !replaced.has(`${ruleId} ${runId}`))]
    })
  })
})

function* takeAll({ take }: RuleEvaluator, entries: ReadonlyArray<Entry>): Sliced<void> {
  for (const entry of entries) {
    take(entry)
    yield
  }
}
