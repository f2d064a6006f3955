import type { CanonicalEvent } from "../events/CanonicalEvent.ts"
import { foldText } from "../values/FoldedText.ts"
import { textAt } from "../values/JsonReader.ts"
import { nanoUsd, usdOfNano } from "../values/Money.ts"
import { type AlertRule, measureKind, minRunsOf } from "./Rule.ts"
import type { EventFacts } from "./RunMemory.ts"

/** How a contribution changes a counter. */
export type Fold = "add" | "max" | "set"

/** What an event adds to the counters of a measure. Money and marks are in billionths. */
export interface CounterChange {
  readonly value: number
  readonly n: number
  readonly fold: Fold
  /** The outcome, for agreement; else empty. */
  readonly part: string
}

/** A mark that was added (`n` 1), replaced or deleted (`n` -1); its score is in billionths. */
export interface CountedMark {
  readonly runId: string
  readonly name: string
  /** Unix milliseconds. */
  readonly at: number
  readonly value: number
  readonly n: number
  /** Source of the telemetry that it comes from. */
  readonly telemetrySource?: string | undefined
}

const NOTHING: ReadonlyArray<CounterChange> = []
const add = (value: number, n = 1, part = ""): ReadonlyArray<CounterChange> => [{ value, n, fold: "add", part }]

/** The contributions of an event to a measure, in order. */
export const contributionsOf = (
  measure: string,
  event: CanonicalEvent,
  facts: EventFacts,
  isOutOfReach: boolean
): ReadonlyArray<CounterChange> => {
  const kind = measureKind(measure)
  switch (kind) {
    case "events":
      return add(1)
    case "costUsd":
    case "guessedCostUsd":
    case "tokens":
    case "llmCalls":
      return event.type === "llm.call.completed" ? add(spent(kind, event.data)) : NOTHING
    case "toolCalls":
      return event.type === "tool.called" ? add(1) : NOTHING
    case "denials":
      return event.type === "policy.denied" ? add(1) : NOTHING
    case "receiptFaults":
      return event.type === "artifact.created" && event.data.receipt?.verified === false ? add(1) : NOTHING
    case "mindChanges":
      return facts.isMindChange ? add(1) : NOTHING
    case "repeats":
      return facts.streak > 0 ? [{ value: facts.streak, n: 1, fold: "max", part: "" }] : NOTHING
    case "outOfReach":
      return isOutOfReach ? add(1) : NOTHING
    case "silenceMs":
      return facts.silenceMs === undefined ? NOTHING : [setTo(facts.silenceMs), setTo(0)]
    case "durationMs":
      return facts.durationMs === undefined ? NOTHING : [{ value: facts.durationMs, n: 1, fold: "max", part: "" }]
    case "markBelow":
      return NOTHING
    default:
      return facts.end === undefined ? ofCorrection(kind, facts) : ofEnd(kind, facts.end)
  }
}

const setTo = (value: number): CounterChange => ({ value, n: 1, fold: "set", part: "" })

const spent = (
  kind: "costUsd" | "guessedCostUsd" | "tokens" | "llmCalls",
  call: Extract<CanonicalEvent, { readonly type: "llm.call.completed" }>["data"]
): number => {
  switch (kind) {
    case "costUsd":
      return nanoUsd(call.estimatedCostUsd ?? 0)
    case "guessedCostUsd":
      return call.costBasis === "fallback" ? nanoUsd(call.estimatedCostUsd ?? 0) : 0
    case "tokens":
      return call.totalTokens
    case "llmCalls":
      return call.calls
  }
}

const ofEnd = (
  kind: "failedRuns" | "failureRate" | "negativeRate" | "disagreement" | "agreementBelow",
  { opposed, outcome, positive, status, voters }: NonNullable<EventFacts["end"]>
): ReadonlyArray<CounterChange> => {
  switch (kind) {
    case "failedRuns":
      return status === "failed" ? add(1) : NOTHING
    case "failureRate":
      return status === "cancelled" ? NOTHING : add(status === "failed" ? 1 : 0)
    case "negativeRate":
      return positive === null ? NOTHING : add(positive ? 0 : 1)
    case "disagreement":
      return voters === 0 ? NOTHING : add(opposed, voters)
    case "agreementBelow":
      return outcome === undefined ? NOTHING : add(1, 1, outcome)
  }
}

/** The end of a run counts once. A correction to failed adds a failure, and no run. */
const ofCorrection = (kind: string, { isFailedAfterAll }: EventFacts): ReadonlyArray<CounterChange> => {
  if (!isFailedAfterAll) return NOTHING
  return kind === "failedRuns" ? add(1) : kind === "failureRate" ? add(1, 0) : NOTHING
}

/** The fields of a run from which keys are made. */
export interface KeyedRun {
  readonly id: string
  readonly scenarioRef: string | undefined
  readonly environment: string | undefined
  readonly source: string | undefined
  readonly tags: ReadonlyArray<string>
  /** Source of a run that was received as telemetry; undefined for the run of a runtime. */
  readonly telemetrySource?: string | undefined
}

/** The key of a rule that counts everything together. */
export const ALL = "all"

/** A key of a rule. */
export interface CounterKey {
  /** Folded, so that a text has one counter however it is written (docs/reference/search.md#folding). */
  readonly key: string
  /** As it was written first; for readers. */
  readonly label: string
}

/** The keys under which a rule counts an event or a mark of a run; none when the run lacks the field. */
export const keysOf = (per: AlertRule["per"], run: KeyedRun, event?: CanonicalEvent): ReadonlyArray<CounterKey> => {
  const keys = new Map<string, CounterKey>()
  for (const label of labelsOf(per, run, event)) {
    const key = per === "run" || per === "all" ? label : foldText(label).replaceAll("\u001f", " ")
    if (!keys.has(key)) keys.set(key, { key, label })
  }
  return [...keys.values()]
}

const labelsOf = (per: AlertRule["per"], run: KeyedRun, event?: CanonicalEvent): ReadonlyArray<string> => {
  switch (per) {
    case "all":
      return [ALL]
    case "run":
      return [run.id]
    case "scenario":
      return stated(run.scenarioRef)
    case "environment":
      return stated(run.environment)
    case "source":
      return stated(run.source)
    case "tag":
      return run.tags
    case "agent":
      return stated(event === undefined ? undefined : textAt(event.recorded.data, "sender", "participantId"))
    case "model":
      return stated(event?.type === "llm.call.completed" ? event.data.model : undefined)
  }
}

const stated = (text: string | undefined): ReadonlyArray<string> => (text === undefined || text === "" ? [] : [text])

/** The sums of a counter: its one part, or one for each outcome. */
export interface Sum {
  readonly value: number
  readonly n: number
}

/** The value of the measure by its sums; undefined while a rate or a mean has too few values. */
export const measured = (rule: AlertRule, parts: Iterable<Sum>): number | undefined => {
  const { measure } = rule
  const minRuns = minRunsOf(rule)
  let value = 0
  let n = 0
  let most = 0
  for (const part of parts) {
    value += part.value
    n += part.n
    most = Math.max(most, part.value)
  }
  switch (measureKind(measure)) {
    case "costUsd":
    case "guessedCostUsd":
      return usdOfNano(value)
    case "failureRate":
    case "negativeRate":
    case "disagreement":
      return n < minRuns ? undefined : value / n
    case "markBelow":
      return n < minRuns ? undefined : usdOfNano(value / n)
    case "agreementBelow":
      return n < minRuns ? undefined : most / n
    default:
      return value
  }
}
