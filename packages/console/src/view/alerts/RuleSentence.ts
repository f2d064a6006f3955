import type { AlertRuleState, AlertTest } from "@runplane/api"
import {
  AlertPer,
  type AlertSeverity,
  AlertWindow,
  amountText,
  isCalendarWindow,
  MEASURE_KINDS,
  type MeasureSentence,
  markOfMeasure,
  measureOf,
  measureTitle
} from "@runplane/domain"
import { counted } from "../format/Format.ts"

/** The subject of a rule's sentence, by what it counts together. All are singular, as the verbs of the measures are. */
export const SUBJECTS: Readonly<Record<AlertPer, string>> = {
  run: "a run",
  scenario: "a scenario",
  tag: "a tag",
  environment: "an environment",
  source: "a source",
  agent: "an agent",
  model: "a model",
  all: "everything together"
}

/** The end of a rule's sentence. */
export const WINDOWS: Readonly<Record<AlertWindow, string>> = {
  run: "in one run",
  "1h": "within an hour",
  "24h": "within 24 hours",
  day: "in a day",
  week: "in a week",
  month: "in a month"
}

export const SEVERITIES: ReadonlyArray<readonly [AlertSeverity, string]> = [
  ["info", "information"],
  ["warning", "warning"],
  ["critical", "critical"]
]

type Counts = Pick<AlertRuleState, "measure" | "per" | "window">

/** A run by itself needs no window. */
const windowText = ({ per, window }: Pick<Counts, "per" | "window">): string => (per === "run" ? "" : WINDOWS[window])

/** The words around the threshold, with the name of the mark. */
export const sentenceParts = (measure: string): MeasureSentence => {
  const mark = markOfMeasure(measure)
  const { sentence } = measureOf(measure)
  return mark === undefined ? sentence : { ...sentence, after: `for ${mark}` }
}

/** `a scenario costs $80.00 / $100.00 or more in a month`. */
export const ruleSentence = (rule: Counts & { readonly levels: ReadonlyArray<{ readonly at: number }> }): string => {
  const { after, before } = sentenceParts(rule.measure)
  const thresholds = rule.levels.map(({ at }) => at)
  const amounts = thresholds.map((at) => amountText(rule.measure, at, thresholds)).join(" / ")
  return [SUBJECTS[rule.per], before, amounts, after, windowText(rule)].filter((part) => part !== "").join(" ")
}

/** The kinds of measures as the form offers them: `makes … model calls or more`. */
export const MEASURE_CHOICES: ReadonlyArray<readonly [kind: string, text: string]> = MEASURE_KINDS.map((kind) => {
  const { after, before } = measureOf(kind).sentence
  return [kind, [before, "…", after].join(" ").trim()]
})

/** What a rule of the measure can count together. */
export const subjectsOf = (measure: string): ReadonlyArray<readonly [AlertPer, string]> =>
  AlertPer.literals.flatMap((per) => (measureOf(measure).per.includes(per) ? [[per, SUBJECTS[per]] as const] : []))

/** The windows of a subject: a run is counted by itself. */
export const windowsOf = (per: AlertPer): ReadonlyArray<readonly [AlertWindow, string]> =>
  AlertWindow.literals.flatMap((window) => (window === "run" || per !== "run" ? [[window, WINDOWS[window]]] : []))

/** The same rule with a subject and a window that fit the measure and each other. `before` is the subject before. */
export const fitting = (counts: Counts, before: AlertPer): Counts => {
  const { per: keys } = measureOf(counts.measure)
  const per = keys.includes(counts.per) ? counts.per : (keys[0] ?? "run")
  const windows = windowsOf(per).map(([window]) => window)
  const isOfRun = before === "run" && per !== "run"
  const window = windows.includes(counts.window) && !isOfRun ? counts.window : per === "run" ? "run" : "month"
  return { measure: counts.measure, per, window }
}

/** Whether the zone of a rule matters to it. */
export const hasZone = (window: AlertWindow): boolean => isCalendarWindow(window)

/** A share is typed in percent, a time in minutes: the unit before and behind the field, and its factor. */
interface TypedUnit {
  readonly before: string
  readonly after: string
  readonly factor: number
  readonly usual: string
}

const UNITS = {
  dollars: { before: "$", after: "", factor: 1, usual: "1" },
  milliseconds: { before: "", after: "minutes", factor: 60_000, usual: "10" },
  share: { before: "", after: "%", factor: 0.01, usual: "20" },
  number: { before: "", after: "", factor: 1, usual: "10" }
} as const satisfies Readonly<Record<ReturnType<typeof measureOf>["unit"], TypedUnit>>

export const typedUnit = (measure: string): TypedUnit => UNITS[measureOf(measure).unit]

const rounded = (amount: number): number => Number(amount.toFixed(9))

/** A threshold of a rule as it is typed. */
export const typedAmount = (measure: string, at: number): string => String(rounded(at / typedUnit(measure).factor))

/** A typed threshold in the unit of the rule. */
export const storedAmount = (measure: string, typed: string): number =>
  rounded(Number(typed) * typedUnit(measure).factor)

/** A measure of the kind; one of marks has the name of its mark. */
export const measureOfKind = (kind: string, mark: string): string =>
  measureOf(kind).from === "marks" ? `${kind}:${mark}` : kind

/** Whether the measure has the name of a mark. */
export const hasMark = (measure: string): boolean => measureOf(measure).from === "marks"

const MOST_ID = 64

/** An id for a rule of this name that no other rule has. */
export const idOf = (name: string, taken: ReadonlySet<string>): string => {
  const words = name
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "")
  const base = words === "" ? "rule" : words.slice(0, MOST_ID - 4).replace(/-$/, "")
  const after = (number: number) => (number === 1 ? base : `${base}-${number}`)
  let number = 1
  while (taken.has(after(number))) number += 1
  return after(number)
}

/** `A run costs $1.00 or more`: the name of a rule that has none. */
export const nameOf = (sentence: string): string => `${sentence.slice(0, 1).toUpperCase()}${sentence.slice(1)}`

/** `Would have fired 12 times in the last 7 days, for 5 runs.` Of a test that ended early, what it has read. */
export const trialText = ({ complete, events, firings }: AlertTest, days: number): string => {
  const span = `in the last ${days} days`
  if (firings.length === 0 && !complete)
    return `Would not have fired in the first ${counted(events, "event")} of the last ${days} days; the rest is not read.`
  if (firings.length === 0) return `Would not have fired ${span}.`
  const times = firings.length === 1 ? "once" : `${firings.length} times`
  const runs = new Set(firings.flatMap(({ runId }) => runId ?? [])).size
  return `Would have fired ${complete ? "" : "at least "}${times} ${span}${runs === 0 ? "" : `, for ${counted(runs, "run")}`}.`
}

/** What was measured, in words: `cost $1,008.75, level $1,000.00`. */
export const firingText = (measure: string, value: number, at: number): string =>
  `${measureTitle(measure)} ${amountText(measure, value, [at])}, level ${amountText(measure, at, [value])}`
