import type { RunStatus } from "../run/RunStatus.ts"
import { measureOf } from "./Measures.ts"
import type { AlertRule } from "./Rule.ts"
import type { RuleEvaluator } from "./RuleEvaluator.ts"
import type { RunMemory } from "./RunMemory.ts"
import type { Period } from "./Windows.ts"

/** A run whose rule of the clock reads it again at a time. */
export interface WatchedRun {
  readonly rule: AlertRule
  readonly runId: string
  readonly period: Period
}

/** A watched run whose deadline is over. */
export interface DueRun extends WatchedRun {
  readonly status: RunStatus
  /** Unix milliseconds of its last event. */
  readonly lastAt: number
  readonly memory: RunMemory | undefined
}

/** When a rule reads a run again, Unix milliseconds; undefined for never. */
export interface Deadline {
  readonly ruleId: string
  readonly runId: string
  readonly dueAt: number | undefined
}

/** Whether the clock can make a rule fire. */
export const hasDeadline = ({ measure }: AlertRule): boolean => measureOf(measure).clock !== undefined

/** When the clock alone lets a run reach a threshold; undefined while it does not run. */
export const dueAt = ({ measure }: AlertRule, memory: RunMemory, threshold: number): number | undefined =>
  memory.state === "running" ? measureOf(measure).clock?.dueAt(memory, threshold) : undefined

/** Fires what the runs have reached by the clock; returns their next deadlines. */
export const compareDue = (
  runs: ReadonlyArray<DueRun>,
  evaluator: RuleEvaluator,
  now: number
): ReadonlyArray<Deadline> =>
  runs.map(({ lastAt, memory, period, rule, runId, status }) => {
    const ids = { ruleId: rule.id, runId }
    if (status !== "running") {
      const isOpening = status === "queued" || status === "starting" || status === "binding_session"
      return { ...ids, dueAt: isOpening ? now + (rule.levels[0]?.at ?? 0) : undefined }
    }
    const known: RunMemory | undefined = memory && { ...memory, lastAt: Math.max(memory.lastAt ?? 0, lastAt) }
    const value = measureOf(rule.measure).clock?.valueAt(known, lastAt, now)
    if (value !== undefined && value >= 0) {
      evaluator.compare({ rule, key: runId, label: runId, period, value, runId, seq: undefined, at: now })
    }
    return { ...ids, dueAt: nextDue(rule, runId, known, evaluator) }
  })

/** The deadlines of runs with new events. */
export const deadlinesOf = (
  watched: ReadonlyArray<WatchedRun>,
  memories: ReadonlyMap<string, RunMemory>,
  evaluator: RuleEvaluator
): ReadonlyArray<Deadline> =>
  watched.map(({ rule, runId }) => ({
    ruleId: rule.id,
    runId,
    dueAt: nextDue(rule, runId, memories.get(runId), evaluator)
  }))

const nextDue = (rule: AlertRule, runId: string, memory: RunMemory | undefined, evaluator: RuleEvaluator) => {
  const level = rule.levels.find((_, number) => !evaluator.hasFired(rule.id, runId, runId, number))
  return level === undefined || memory === undefined ? undefined : dueAt(rule, memory, level.at)
}
