import type { CanonicalEvent } from "../events/CanonicalEvent.ts"
import { sumUsd } from "../values/Money.ts"
import { runSliced, type Sliced } from "../values/Sliced.ts"
import { type RunStep, stepReader } from "./RunSteps.ts"

interface RunPosition {
  readonly seq: number
  readonly index: number
}

/** The first difference between two runs. */
export interface Divergence {
  readonly left: RunPosition
  readonly right: RunPosition
  readonly kind: "different" | "only-left" | "only-right"
  readonly participantId: string
  /** The difference in one sentence. */
  readonly what: string
  /** What differs: members of the step, free text last. Empty when the whole step does. */
  readonly details: ReadonlyArray<string>
  readonly leftText: string | null
  readonly rightText: string | null
  readonly consequence: {
    readonly outcomeLeft: Outcome
    readonly outcomeRight: Outcome
    readonly eventsAfterLeft: number
    readonly eventsAfterRight: number
    /** US dollars that the right run spent after the difference, less what the left one did. */
    readonly costDeltaUsd: number
    /** US dollars of what both runs spent after the difference that are a guess; absent when there are none. */
    readonly guessedCostUsd?: number
  }
}

export type Outcome = "positive" | "negative" | "unstated" | "failed" | "cancelled" | "none"

/** The parts of a run that are compared. */
export interface RunOutline {
  readonly steps: ReadonlyArray<RunStep>
  readonly outcome: Outcome
  readonly lastIndex: number
  readonly spendings: ReadonlyArray<{ readonly index: number; readonly costUsd: number; readonly isGuess: boolean }>
}

/**
 * The first difference between two runs, null when they are equal. Steps are aligned by cause: each has a key that is
 * unique in its run, so the order of the participants' messages makes no difference. Time and memory grow
 * with the events of both runs together.
 */
export const firstDivergence = (
  leftEvents: Iterable<CanonicalEvent>,
  rightEvents: Iterable<CanonicalEvent>
): Divergence | null => runSliced(divergenceInSlices(outlineOf(leftEvents), outlineOf(rightEvents)))

/** The first difference between two runs that were read by `outlineReader`, in slices. */
export function* divergenceInSlices(left: RunOutline, right: RunOutline): Sliced<Divergence | null> {
  const first = yield* firstDifference(left.steps, right.steps)
  if (first === undefined) return null
  const at = { left: positionOf(first.left ?? first.before.left), right: positionOf(first.right ?? first.before.right) }
  const [spentLeft, spentRight] = [spentAfter(left, at.left), spentAfter(right, at.right)]
  const guessedCostUsd = totalOf([...spentLeft, ...spentRight].filter(({ isGuess }) => isGuess))
  return {
    ...at,
    kind: first.left === undefined ? "only-right" : first.right === undefined ? "only-left" : "different",
    participantId: (first.left ?? first.right)?.participantId ?? "",
    ...wordsOf(first.left, first.right),
    consequence: {
      outcomeLeft: left.outcome,
      outcomeRight: right.outcome,
      eventsAfterLeft: left.lastIndex - at.left.index,
      eventsAfterRight: right.lastIndex - at.right.index,
      costDeltaUsd: sumUsd([totalOf(spentRight), -totalOf(spentLeft)]),
      ...(guessedCostUsd > 0 && { guessedCostUsd })
    }
  }
}

/** Where a run leaves the course of another: equal texts stand for equal causes. */
export interface Parting {
  readonly participantId: string
  /** The message type, or `end` of the end of a run. */
  readonly type: string
  /** The action of the participant in the run that parts, without ids and free text. */
  readonly what: string
  /** The step of that run before it, in words: `the second evaluation`. */
  readonly after: string | undefined
}

/** Where a run parts from another; null when their steps are equal. */
export function* partingInSlices(from: RunOutline, run: RunOutline): Sliced<Parting | null> {
  const first = yield* firstDifference(from.steps, run.steps)
  const step = first?.right ?? first?.left
  if (first === undefined || step === undefined) return null
  const end = first.right === undefined ? first.before.right : run.steps[run.steps.indexOf(first.right) - 1]
  return {
    participantId: step.participantId,
    type: step.type,
    what: partingWords(first.left, first.right),
    after: end === undefined ? undefined : countedStep(run.steps, end)
  }
}

const partingWords = (left: RunStep | undefined, right: RunStep | undefined): string => {
  if (right === undefined) return `did not send ${left?.type ?? "a message"}`
  const words = actionOf(right)
  if (left === undefined || left.key !== right.key || actionOf(left) !== words) return words
  return `${words} with another ${differences(left.said, right.said).join(" and ")}`
}

const actionOf = ({ said, type }: RunStep): string => {
  switch (type) {
    case "Vote":
      return `voted ${said["vote"] ?? "something unreadable"}`
    case "Evaluation":
      return `evaluated ${said["recommendation"] ?? "nothing"}`
    case "Objection":
      return `objected with severity ${said["severity"]}`
    case "Commitment":
      return `committed ${said["action"]}`
    case "end":
      return `the run ended as ${said["end"]}`
    default:
      return `sent ${type}`
  }
}

const ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]

/** `the second evaluation`: the position of a step among those of its type. */
const countedStep = (steps: ReadonlyArray<RunStep>, step: RunStep): string => {
  const before = steps.slice(0, steps.indexOf(step)).filter(({ type }) => type === step.type).length
  const words = step.type.replace(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase()
  return `the ${ORDINALS[before] ?? `${before + 1}th`} ${words}`
}

/** The number of steps that only one of two runs has, or that differ. */
export function* divergenceCostInSlices(left: RunOutline, right: RunOutline): Sliced<number> {
  const byKey = yield* keyed(right.steps)
  let [shared, changed] = [0, 0]
  for (const [at, { key, said }] of left.steps.entries()) {
    if (isEndOfSlice(at)) yield
    const counterpart = byKey.get(key)
    if (counterpart === undefined) continue
    shared += 1
    if (!isSame(said, counterpart.said)) changed += 1
  }
  return left.steps.length + right.steps.length - 2 * shared + changed
}

/** Steps that are compared in one slice. */
const STEPS_IN_SLICE = 1_000
const isEndOfSlice = (at: number) => at % STEPS_IN_SLICE === STEPS_IN_SLICE - 1

function* keyed(steps: ReadonlyArray<RunStep>): Sliced<ReadonlyMap<string, RunStep>> {
  const byKey = new Map<string, RunStep>()
  for (const [at, step] of steps.entries()) {
    if (isEndOfSlice(at)) yield
    byKey.set(step.key, step)
  }
  return byKey
}

/** Reads a run's events one by one, so that they need not be in memory together. */
export interface OutlineReader {
  readonly take: (event: CanonicalEvent) => void
  /** The outline of all events; the reader takes no event after this call. */
  readonly read: () => RunOutline
}

export const outlineReader = (): OutlineReader => {
  const steps = stepReader()
  const spendings: Array<RunOutline["spendings"][number]> = []
  let outcome: Outcome = "none"
  let lastIndex = 0
  return {
    take: (event) => {
      const { index } = event
      lastIndex = index
      if (event.type === "llm.call.completed") {
        const { costBasis, estimatedCostUsd = 0 } = event.data
        spendings.push({ index, costUsd: estimatedCostUsd, isGuess: costBasis === "fallback" })
      }
      if (event.type === "decision.finalized") outcome = outcomeOf(event.data.outcomePositive)
      if (event.type === "run.failed" && outcome === "none") outcome = "failed"
      if (event.type === "run.corrected" && event.data.status === "failed" && outcome === "none") outcome = "failed"
      if (event.type === "run.corrected" && event.data.status === "completed" && outcome === "failed") outcome = "none"
      if (event.type === "run.cancelled" && outcome === "none") outcome = "cancelled"
      steps.take(event)
    },
    read: () => ({ steps: steps.read(), outcome, lastIndex, spendings })
  }
}

const outlineOf = (events: Iterable<CanonicalEvent>): RunOutline => {
  const reader = outlineReader()
  for (const event of events) reader.take(event)
  return reader.read()
}

const outcomeOf = (positive: boolean | null): Outcome =>
  positive === null ? "unstated" : positive ? "positive" : "negative"

const spentAfter = ({ spendings }: RunOutline, { index }: RunPosition): RunOutline["spendings"] =>
  spendings.filter((spending) => spending.index > index)

const totalOf = (spendings: RunOutline["spendings"]): number => sumUsd(spendings.map(({ costUsd }) => costUsd))

interface Difference {
  readonly left: RunStep | undefined
  readonly right: RunStep | undefined
  /** In the run that lacks the step, the one after which it would have come. */
  readonly before: { readonly left?: RunStep; readonly right?: RunStep }
}

function* firstDifference(left: ReadonlyArray<RunStep>, right: ReadonlyArray<RunStep>): Sliced<Difference | undefined> {
  const fromLeft = yield* firstIn(left, yield* keyed(right))
  const fromRight = yield* firstIn(right, yield* keyed(left))
  if (fromRight === undefined || (fromLeft !== undefined && fromLeft.depth < fromRight.depth)) return ofLeft(fromLeft)
  if (fromLeft === undefined || fromRight.depth < fromLeft.depth) return ofRight(fromRight)
  if (fromLeft.counterpart === undefined && fromRight.counterpart === undefined) {
    // One participant did one thing here and another there at the same step: that is one difference, not two.
    return fromLeft.step.participantId === fromRight.step.participantId
      ? { left: fromLeft.step, right: fromRight.step, before: {} }
      : ofLeft(fromLeft)
  }
  // Steps that only the right run has are before its form of the different step, and may be its cause.
  return fromRight.counterpart === undefined ? ofRight(fromRight) : ofLeft(fromLeft)
}

interface Found {
  readonly step: RunStep
  /** Its form in the other run. */
  readonly counterpart: RunStep | undefined
  /** The other run's form of the step before it. */
  readonly lastCounterpart: RunStep | undefined
  /** How many shared steps come before it. */
  readonly depth: number
}

/** The first step that the other run lacks, or has otherwise. */
function* firstIn(steps: ReadonlyArray<RunStep>, other: ReadonlyMap<string, RunStep>): Sliced<Found | undefined> {
  let depth = 0
  let lastCounterpart: RunStep | undefined
  for (const step of steps) {
    if (isEndOfSlice(depth)) yield
    const counterpart = other.get(step.key)
    if (counterpart === undefined || !isSame(step.said, counterpart.said))
      return { step, counterpart, lastCounterpart, depth }
    depth += 1
    lastCounterpart = counterpart
  }
  return undefined
}

const ofLeft = (found: Found | undefined): Difference | undefined =>
  found === undefined
    ? undefined
    : {
        left: found.step,
        right: found.counterpart,
        before: { ...(found.lastCounterpart !== undefined && { right: found.lastCounterpart }) }
      }

const ofRight = (found: Found): Difference => ({
  left: found.counterpart,
  right: found.step,
  before: { ...(found.lastCounterpart !== undefined && { left: found.lastCounterpart }) }
})

const isSame = (left: RunStep["said"], right: RunStep["said"]): boolean => {
  for (const name in left) if (left[name] !== right[name]) return false
  for (const name in right) if (left[name] !== right[name]) return false
  return true
}

const differences = (left: RunStep["said"], right: RunStep["said"]): ReadonlyArray<string> =>
  [...new Set([...Object.keys(left), ...Object.keys(right)])].filter((name) => left[name] !== right[name])

const positionOf = (step: RunStep | undefined): RunPosition => ({ seq: step?.seq ?? 0, index: step?.index ?? 0 })

const wordsOf = (left: RunStep | undefined, right: RunStep | undefined) => {
  const [leftText, rightText] = [left?.text() ?? null, right?.text() ?? null]
  const texts = { leftText, rightText }
  if (left === undefined) return { ...texts, what: `only in the right run ${rightText}`, details: [] }
  if (right === undefined) return { ...texts, what: `only in the left run ${leftText}`, details: [] }
  const details =
    left.key === right.key ? [...differences(left.said, right.said), ...differences(left.free, right.free)] : []
  return { ...texts, what: `${leftText}; in the right run ${rightText}`, details }
}
