import type { CanonicalEvent } from "../events/CanonicalEvent.ts"
import type { ItemFact } from "../events/PeopleFacts.ts"
import { nanoUsd, usdOfNano } from "../values/Money.ts"
import { type CounterChange, changeBy, NO_CHANGE, type Total } from "./CounterChange.ts"
import type { AlertPer } from "./Keys.ts"
import type { Measure } from "./Measure.ts"
import { durationOf, type EndFacts, type EventFacts } from "./RunMemory.ts"

const OF_RUN: ReadonlyArray<AlertPer> = ["run", "scenario", "tag", "environment", "source", "all"]
const OF_AGENT: ReadonlyArray<AlertPer> = [...OF_RUN, "agent"]
const OF_MODEL: ReadonlyArray<AlertPer> = [...OF_AGENT, "model"]
const ONE_RUN: ReadonlyArray<AlertPer> = ["run"]

/** Ended runs that a rate over several runs needs, unless its rule says otherwise. */
const USUAL_MIN_RUNS = 5

const total = ({ value }: Total): number => value
const dollars = ({ value }: Total): number => usdOfNano(value)
const mean = ({ n, value }: Total, minRuns: number): number | undefined => (n < minRuns ? undefined : value / n)

type Change = Measure["change"]
type LlmCall = Extract<CanonicalEvent, { readonly type: "llm.call.completed" }>["data"]

const onceIf =
  (counts: (event: CanonicalEvent, facts: EventFacts, isOutOfReach: boolean) => boolean): Change =>
  (event, facts, isOutOfReach) =>
    counts(event, facts, isOutOfReach) ? changeBy(1) : NO_CHANGE

/** Whether an escalation has no person: known when its question opens, or when its step is made. */
const isUnreached = (item: ItemFact | undefined): boolean =>
  item?.event === "unreachable" || (item?.event === "escalated" && item.reach !== "persons")

const ofCall =
  (amount: (call: LlmCall) => number): Change =>
  (event) =>
    event.type === "llm.call.completed" ? changeBy(amount(event.data)) : NO_CHANGE

const ofEnd =
  (change: (end: EndFacts) => ReadonlyArray<CounterChange>): Change =>
  (_, { end }) =>
    end === undefined ? NO_CHANGE : change(end)

/** A measure that counts events by themselves. */
const COUNT_OF_EVENTS = {
  ...({ unit: "number", from: "events", per: OF_RUN, needsMemory: false, fold: "add" } as const),
  ...({ value: total, firesBelow: false } as const)
}

/** All measures by name. The order is that of lists for readers. */
const MEASURES = {
  costUsd: {
    title: "cost",
    sentence: { before: "costs", after: "or more" },
    words: "cost of model calls, US dollars",
    unit: "dollars",
    from: "calls",
    per: OF_MODEL,
    needsMemory: false,
    fold: "add",
    change: ofCall(({ estimatedCostUsd = 0 }) => nanoUsd(estimatedCostUsd)),
    value: dollars,
    firesBelow: false,
    budget: "admission"
  },
  guessedCostUsd: {
    title: "cost at guessed prices",
    sentence: { before: "costs", after: "or more at guessed prices" },
    words: "the part whose model has no known price",
    unit: "dollars",
    from: "calls",
    per: OF_MODEL,
    needsMemory: false,
    fold: "add",
    change: ofCall(({ costBasis, estimatedCostUsd = 0 }) => (costBasis === "fallback" ? nanoUsd(estimatedCostUsd) : 0)),
    value: dollars,
    firesBelow: false,
    budget: "report"
  },
  tokens: {
    title: "tokens",
    sentence: { before: "uses", after: "tokens or more" },
    words: "tokens of model calls",
    unit: "number",
    from: "calls",
    per: OF_MODEL,
    needsMemory: false,
    fold: "add",
    change: ofCall(({ totalTokens }) => totalTokens),
    value: total,
    firesBelow: false,
    budget: "report"
  },
  llmCalls: {
    title: "model calls",
    sentence: { before: "makes", after: "model calls or more" },
    words: "model calls",
    unit: "number",
    from: "calls",
    per: OF_MODEL,
    needsMemory: false,
    fold: "add",
    change: ofCall(({ calls }) => calls),
    value: total,
    firesBelow: false
  },
  toolCalls: {
    title: "tool calls",
    sentence: { before: "makes", after: "tool calls or more" },
    words: "events tool.called",
    unit: "number",
    from: "calls",
    per: OF_AGENT,
    needsMemory: false,
    fold: "add",
    change: onceIf(({ type }) => type === "tool.called"),
    value: total,
    firesBelow: false
  },
  events: {
    title: "events",
    sentence: { before: "has", after: "events or more" },
    words: "events of any type",
    unit: "number",
    from: "events",
    per: OF_AGENT,
    needsMemory: false,
    fold: "add",
    change: onceIf(() => true),
    value: total,
    firesBelow: false
  },
  durationMs: {
    title: "duration",
    sentence: { before: "runs for", after: "or longer" },
    words: "time since run.started, without suspended time, of spans by their own times; only per run",
    unit: "milliseconds",
    from: "events",
    per: ONE_RUN,
    needsMemory: true,
    fold: "max",
    change: (_, { durationMs }) => (durationMs === undefined ? NO_CHANGE : changeBy(durationMs)),
    value: total,
    firesBelow: false,
    clock: {
      valueAt: (memory, _, now) => memory && durationOf(memory, now),
      dueAt: ({ pausedMs, startedAt }, threshold) =>
        startedAt === undefined ? undefined : startedAt + pausedMs + threshold
    }
  },
  silenceMs: {
    title: "silence",
    sentence: { before: "is silent for", after: "or longer" },
    words: "time since the last event of a running run; only per run",
    unit: "milliseconds",
    from: "events",
    per: ONE_RUN,
    needsMemory: true,
    fold: "set",
    // The silence before the event, which ends it.
    change: (_, { silenceMs }) => (silenceMs === undefined ? NO_CHANGE : [...changeBy(silenceMs), ...changeBy(0)]),
    value: total,
    firesBelow: false,
    clock: {
      valueAt: (_, lastAt, now) => now - lastAt,
      dueAt: ({ lastAt }, threshold) => (lastAt === undefined ? undefined : lastAt + threshold)
    }
  },
  denials: {
    title: "denials",
    sentence: { before: "is denied by its policy", after: "times or more" },
    words: "refusals on record, events policy.denied: see below for those that the log lacks",
    unit: "number",
    from: "events",
    per: OF_AGENT,
    needsMemory: false,
    fold: "add",
    change: onceIf(({ type }) => type === "policy.denied"),
    value: total,
    firesBelow: false
  },
  failedRuns: {
    title: "failed runs",
    sentence: { before: "has", after: "failed runs or more" },
    words: "failed runs",
    unit: "number",
    from: "events",
    per: OF_RUN,
    needsMemory: true,
    fold: "add",
    change: onceIf((_, { end, isFailedAfterAll }) => end?.status === "failed" || isFailedAfterAll),
    value: total,
    firesBelow: false
  },
  failureRate: {
    title: "share of failed runs",
    sentence: { before: "fails in", after: "of its runs or more" },
    words: "failed runs among completed and failed ones",
    unit: "share",
    from: "events",
    per: OF_RUN,
    needsMemory: true,
    fold: "add",
    change: (_, { end, isFailedAfterAll }) => {
      // The end of a run counts once. A correction to failed adds a failure, and no run.
      if (end === undefined) return isFailedAfterAll ? changeBy(1, 0) : NO_CHANGE
      return end.status === "cancelled" ? NO_CHANGE : changeBy(end.status === "failed" ? 1 : 0)
    },
    value: mean,
    usualMinRuns: USUAL_MIN_RUNS,
    firesBelow: false
  },
  negativeRate: {
    title: "share of negative decisions",
    sentence: { before: "decides against its proposal in", after: "of its runs or more" },
    words: "negative decisions among ended runs whose decision states an outcome",
    unit: "share",
    from: "events",
    per: OF_RUN,
    needsMemory: true,
    fold: "add",
    change: ofEnd(({ positive }) => (positive === null ? NO_CHANGE : changeBy(positive ? 0 : 1))),
    value: mean,
    usualMinRuns: USUAL_MIN_RUNS,
    firesBelow: false
  },
  disagreement: {
    title: "disagreement",
    sentence: { before: "ends with", after: "of its participants or more against the outcome" },
    words: "participants whose last word opposed the outcome, among all with a last word; at the end",
    unit: "share",
    from: "events",
    per: OF_RUN,
    needsMemory: true,
    fold: "add",
    change: ofEnd(({ opposed, voters }) => (voters === 0 ? NO_CHANGE : changeBy(opposed, voters))),
    value: mean,
    firesBelow: false
  },
  mindChanges: {
    title: "changed votes",
    sentence: { before: "changes", after: "votes or more" },
    words: "votes that their participant changed on the same proposal",
    unit: "number",
    from: "events",
    per: OF_AGENT,
    needsMemory: true,
    fold: "add",
    change: onceIf((_, { isMindChange }) => isMindChange),
    value: total,
    firesBelow: false
  },
  repeats: {
    title: "repeated messages",
    sentence: { before: "repeats one message", after: "times or more" },
    words: "longest row of equal messages of one participant, votes apart: without ids and times",
    unit: "number",
    from: "events",
    per: OF_AGENT,
    needsMemory: true,
    fold: "max",
    change: (_, { streak }) => (streak > 0 ? changeBy(streak) : NO_CHANGE),
    value: total,
    firesBelow: false
  },
  outOfReach: {
    title: "runs out of reach",
    sentence: { before: "has", after: "runs or more that can no longer pass" },
    words: "runs whose forecast has no positive outcome any more",
    unit: "number",
    from: "events",
    per: OF_RUN,
    needsMemory: true,
    needsForecast: true,
    fold: "add",
    change: onceIf((_event, _facts, isOutOfReach) => isOutOfReach),
    value: total,
    firesBelow: false
  },
  receiptFaults: {
    title: "faulty receipts",
    sentence: { before: "has", after: "faulty receipts or more" },
    words: "receipts that are missing, not valid, or disagree with the log",
    ...COUNT_OF_EVENTS,
    change: onceIf((event) => event.type === "artifact.created" && event.data.receipt?.verified === false)
  },
  personSilent: {
    title: "unanswered questions to people",
    sentence: { before: "has", after: "unanswered questions to people or more" },
    words: "questions to people that end without an answer of a person, asked until then",
    ...COUNT_OF_EVENTS,
    change: onceIf((event) => event.type === "artifact.created" && event.data.item?.unanswered === true)
  },
  personUnreached: {
    title: "escalations to no known person",
    sentence: { before: "has", after: "escalations to no known person or more" },
    words: "steps of escalations without a known person: when the question opens, and when they are made",
    ...COUNT_OF_EVENTS,
    change: onceIf((event) => event.type === "artifact.created" && isUnreached(event.data.item))
  },
  personUnnotified: {
    title: "questions without a notified person",
    sentence: { before: "has", after: "questions without a notified person or more" },
    words: "questions of which no person could be notified, by mail or in Slack",
    ...COUNT_OF_EVENTS,
    change: onceIf((event) => event.type === "artifact.created" && event.data.item?.event === "undelivered")
  },
  failedTurns: {
    title: "failed turns of remote agents",
    sentence: { before: "has", after: "failed turns of remote agents or more" },
    words: "turns of agents that speak A2A that failed, those with an abstention included",
    ...COUNT_OF_EVENTS,
    change: onceIf((event) => event.type === "artifact.created" && event.data.turn?.failure !== undefined)
  },
  agreementBelow: {
    title: "agreement of repeated runs",
    sentence: { before: "has the same outcome in less than", after: "of its runs" },
    words: "share of the most frequent outcome among ended runs, as stability counts outcomes",
    unit: "share",
    from: "events",
    per: OF_RUN,
    needsMemory: true,
    fold: "add",
    change: ofEnd(({ outcome }) => (outcome === undefined ? NO_CHANGE : changeBy(1, 1, outcome))),
    value: ({ most, n }, minRuns) => (n < minRuns ? undefined : most / n),
    usualMinRuns: USUAL_MIN_RUNS,
    firesBelow: true
  },
  markBelow: {
    title: "mean mark",
    sentence: { before: "has a mean mark below", after: "" },
    words: "mean of the current marks of the name: numbers, true as 1, false as 0",
    unit: "number",
    from: "marks",
    per: OF_RUN,
    needsMemory: false,
    fold: "add",
    change: () => NO_CHANGE,
    value: ({ n, value }, minRuns) => (n < minRuns ? undefined : usdOfNano(value / n)),
    firesBelow: true
  }
} satisfies Readonly<Record<string, Measure>>

type Measures = typeof MEASURES
export type MeasureKind = keyof Measures
/** The kinds whose row has these members. */
type KindsWith<Row> = { [Kind in MeasureKind]: Measures[Kind] extends Row ? Kind : never }[MeasureKind]
/** The measures that have the name of a mark. */
type MarkMeasure = KindsWith<{ readonly from: "marks" }>
/** The measures without a name of their own. */
export type PlainMeasure = Exclude<MeasureKind, MarkMeasure>
export type BudgetMeasure = KindsWith<{ readonly budget: string }>

const rowOf = (kind: MeasureKind): Measure => MEASURES[kind]

const isKind = (text: string): text is MeasureKind => Object.hasOwn(MEASURES, text)
const isMarkMeasure = (kind: MeasureKind): kind is MarkMeasure => rowOf(kind).from === "marks"
const isPlain = (kind: MeasureKind): kind is PlainMeasure => !isMarkMeasure(kind)
const isBudgetMeasure = (kind: MeasureKind): kind is BudgetMeasure => rowOf(kind).budget !== undefined

export const MEASURE_KINDS: ReadonlyArray<MeasureKind> = Object.keys(MEASURES).filter(isKind)
export const ALERT_MEASURES: ReadonlyArray<PlainMeasure> = MEASURE_KINDS.filter(isPlain)
export const MARK_MEASURES: ReadonlyArray<MarkMeasure> = MEASURE_KINDS.filter(isMarkMeasure)
/** The measures whose rules by calendar period are budgets. */
export const BUDGET_MEASURES: ReadonlyArray<BudgetMeasure> = MEASURE_KINDS.filter(isBudgetMeasure)
/** The measures whose budgets can refuse runs. */
export const ADMISSION_MEASURES = BUDGET_MEASURES.filter((kind) => rowOf(kind).budget === "admission")

/** Kind and name of a measure of marks. */
const namedParts = (measure: string): readonly [kind: MarkMeasure, name: string] | undefined => {
  const kind = MARK_MEASURES.find((each) => measure.startsWith(`${each}:`))
  return kind && [kind, measure.slice(kind.length + 1)]
}

export const isPlainMeasure = (measure: string): measure is PlainMeasure => isKind(measure) && isPlain(measure)

/** The measure without the name of its mark. A rule has been decoded: its measure has a row. */
export const measureKind = (measure: string): MeasureKind =>
  isKind(measure) ? measure : (namedParts(measure)?.[0] ?? "markBelow")

/** The row of a measure. */
export const measureOf = (measure: string): Measure => rowOf(measureKind(measure))

/** The name of the mark that the measure is of. */
export const markOfMeasure = (measure: string): string | undefined => namedParts(measure)?.[1]

/** The measure for readers: `cost`, `mean mark quality`. */
export const measureTitle = (measure: string): string => {
  const mark = markOfMeasure(measure)
  const { title } = measureOf(measure)
  return mark === undefined ? title : `${title} ${mark}`
}

/** The measures of a mark. */
export const measuresOfMark = (mark: string): ReadonlyArray<string> => MARK_MEASURES.map((kind) => `${kind}:${mark}`)

/** Whether rules of the measure by calendar period can refuse runs. */
export const mayRefuse = (measure: string): boolean => measureOf(measure).budget === "admission"
