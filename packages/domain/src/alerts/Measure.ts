import type { CanonicalEvent } from "../events/CanonicalEvent.ts"
import type { CounterChange, Fold, Total } from "./CounterChange.ts"
import type { AlertPer } from "./Keys.ts"
import type { EventFacts, RunMemory } from "./RunMemory.ts"

/** Of a value, for texts. A share is from 0 to 1. */
export type MeasureUnit = "dollars" | "milliseconds" | "share" | "number"

/** The words of a rule between its subject and its window. */
export interface MeasureSentence {
  readonly before: string
  readonly after: string
}

/**
 * All that makes a measure (docs/internals/changing.md#a-measure). Rules, counters, texts, budgets and the console read
 * it from `MEASURES`, and name no measure themselves.
 */
export interface Measure {
  /** The name for readers, on pages, in tables and in notifications: `cost`. A mark has its name behind it. */
  readonly title: string
  /**
   * The sentence of a rule around its threshold: `costs`, `$5`, `or more`. Its subject is singular.
   */
  readonly sentence: MeasureSentence
  /** The value in a few words, as the table of docs/reference/alerts.md#measures has it. */
  readonly words: string
  readonly unit: MeasureUnit
  /**
   * What changes its counters. A call counts at the time of the call, all else at its arrival. A measure of `marks` has
   * the name of its mark: `markBelow:quality`.
   */
  readonly from: "events" | "calls" | "marks"
  /** The keys that a rule can count it by: those that its events name. */
  readonly per: ReadonlyArray<AlertPer>
  /** Whether `change` or `clock` depends on earlier events of the run. */
  readonly needsMemory: boolean
  /** Whether `change` needs the forecast of the run, which reads its whole log. */
  readonly needsForecast?: true
  /** How changes are folded into a counter. Sums alone can be taken back, for a deleted run. */
  readonly fold: Fold
  /** The changes of its counters by an event, in order. `isOutOfReach`: no positive outcome is possible any more. */
  readonly change: (event: CanonicalEvent, facts: EventFacts, isOutOfReach: boolean) => ReadonlyArray<CounterChange>
  /** The value, in its unit; undefined while a rate or a mean has fewer than `minRuns` values. */
  readonly value: (total: Total, minRuns: number) => number | undefined
  /** `minRuns` of a rule over several runs that does not say; 1 unless set. */
  readonly usualMinRuns?: number
  /** Whether a level fires when the value falls under it; else it fires when the value reaches it. */
  readonly firesBelow: boolean
  /** Of a measure that grows without events. It is of one run, and is not of what telemetry reports. */
  readonly clock?: MeasureClock
  /** Whether its rules by calendar period are budgets, and whether these can refuse runs. */
  readonly budget?: "admission" | "report"
}

/** A measure of a running run that the time alone changes. Times are Unix milliseconds. */
interface MeasureClock {
  /** The value at a time. `lastAt` is the time of the last event. */
  readonly valueAt: (memory: RunMemory | undefined, lastAt: number, now: number) => number | undefined
  /** When the value reaches a threshold without another event. */
  readonly dueAt: (memory: RunMemory, threshold: number) => number | undefined
}
