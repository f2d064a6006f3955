import type { CanonicalEvent } from "../events/CanonicalEvent.ts"
import { sumUsd } from "../Money.ts"
import { type Step, stepReader } from "./Steps.ts"

interface Spot {
  readonly seq: number
  readonly index: number
}

/** Where two runs of one story first say different things. */
export interface Divergence {
  readonly left: Spot
  readonly right: Spot
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
  }
}

export type Outcome = "positive" | "negative" | "unstated" | "failed" | "cancelled" | "none"

/** What has to be known of a run for the comparison, beside its steps. */
export interface Course {
  readonly steps: ReadonlyArray<Step>
  readonly outcome: Outcome
  readonly lastIndex: number
  readonly spendings: ReadonlyArray<{ readonly index: number; readonly costUsd: number }>
}

/**
 * The first difference between two runs, null when they say the same. Steps are aligned by cause: each has a key that
 * is unique in its run, so the order in which participants happened to speak makes no difference. Time and memory grow
 * with the events of both runs together.
 */
export const firstDivergence = (
  leftEvents: Iterable<CanonicalEvent>,
  rightEvents: Iterable<CanonicalEvent>
): Divergence | null => divergenceOf(courseOf(leftEvents), courseOf(rightEvents))

/** The first difference between two runs that were read by `courseReader`. */
export const divergenceOf = (left: Course, right: Course): Divergence | null => {
  const first = firstDifference(left.steps, right.steps)
  if (first === undefined) return null
  const at = { left: spotOf(first.left ?? first.before.left), right: spotOf(first.right ?? first.before.right) }
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
      costDeltaUsd: spentAfter(right, at.right) - spentAfter(left, at.left)
    }
  }
}

/** Reads a run's events one by one, so that nobody has to hold them all. */
export interface CourseReader {
  readonly take: (event: CanonicalEvent) => void
  /** The course of all events; nothing is taken after it. */
  readonly read: () => Course
}

export const courseReader = (): CourseReader => {
  const steps = stepReader()
  const spendings: Array<Course["spendings"][number]> = []
  let outcome: Outcome = "none"
  let lastIndex = 0
  return {
    take: (event) => {
      const { index } = event
      lastIndex = index
      if (event.type === "llm.call.completed") spendings.push({ index, costUsd: event.data.estimatedCostUsd ?? 0 })
      if (event.type === "decision.finalized") outcome = outcomeOf(event.data.outcomePositive)
      if (event.type === "run.failed" && outcome === "none") outcome = "failed"
      if (event.type === "run.cancelled" && outcome === "none") outcome = "cancelled"
      steps.take(event)
    },
    read: () => ({ steps: steps.read(), outcome, lastIndex, spendings })
  }
}

const courseOf = (events: Iterable<CanonicalEvent>): Course => {
  const reader = courseReader()
  for (const event of events) reader.take(event)
  return reader.read()
}

const outcomeOf = (positive: boolean | null): Outcome =>
  positive === null ? "unstated" : positive ? "positive" : "negative"

const spentAfter = ({ spendings }: Course, { index }: Spot): number =>
  sumUsd(spendings.filter((spending) => spending.index > index).map(({ costUsd }) => costUsd))

interface Difference {
  readonly left: Step | undefined
  readonly right: Step | undefined
  /** In the run that lacks the step, the one after which it would have come. */
  readonly before: { readonly left?: Step; readonly right?: Step }
}

const firstDifference = (left: ReadonlyArray<Step>, right: ReadonlyArray<Step>): Difference | undefined => {
  const rightByKey = new Map(right.map((step) => [step.key, step]))
  const leftByKey = new Map(left.map((step) => [step.key, step]))
  const fromLeft = firstIn(left, rightByKey)
  const fromRight = firstIn(right, leftByKey)
  if (fromRight === undefined || (fromLeft !== undefined && fromLeft.depth < fromRight.depth)) return ofLeft(fromLeft)
  if (fromLeft === undefined || fromRight.depth < fromLeft.depth) return ofRight(fromRight)
  if (fromLeft.twin === undefined && fromRight.twin === undefined) {
    // At the same place one participant did one thing here and another there: that is one difference, not two.
    return fromLeft.step.participantId === fromRight.step.participantId
      ? { left: fromLeft.step, right: fromRight.step, before: {} }
      : ofLeft(fromLeft)
  }
  // What only the right run has comes before its form of the step that differs, and may be why it does.
  return fromRight.twin === undefined ? ofRight(fromRight) : ofLeft(fromLeft)
}

interface Found {
  readonly step: Step
  /** Its form in the other run. */
  readonly twin: Step | undefined
  /** The other run's form of the step before it. */
  readonly lastTwin: Step | undefined
  /** How many shared steps come before it. */
  readonly depth: number
}

/** The first step that the other run lacks, or has otherwise. */
const firstIn = (steps: ReadonlyArray<Step>, other: ReadonlyMap<string, Step>): Found | undefined => {
  let depth = 0
  let lastTwin: Step | undefined
  for (const step of steps) {
    const twin = other.get(step.key)
    if (twin === undefined || !isSame(step.said, twin.said)) return { step, twin, lastTwin, depth }
    depth += 1
    lastTwin = twin
  }
  return undefined
}

const ofLeft = (found: Found | undefined): Difference | undefined =>
  found === undefined
    ? undefined
    : {
        left: found.step,
        right: found.twin,
        before: { ...(found.lastTwin !== undefined && { right: found.lastTwin }) }
      }

const ofRight = (found: Found): Difference => ({
  left: found.twin,
  right: found.step,
  before: { ...(found.lastTwin !== undefined && { left: found.lastTwin }) }
})

const isSame = (left: Step["said"], right: Step["said"]): boolean => {
  for (const name in left) if (left[name] !== right[name]) return false
  for (const name in right) if (left[name] !== right[name]) return false
  return true
}

const differences = (left: Step["said"], right: Step["said"]): ReadonlyArray<string> =>
  [...new Set([...Object.keys(left), ...Object.keys(right)])].filter((name) => left[name] !== right[name])

const spotOf = (step: Step | undefined): Spot => ({ seq: step?.seq ?? 0, index: step?.index ?? 0 })

const wordsOf = (left: Step | undefined, right: Step | undefined) => {
  const [leftText, rightText] = [left?.text() ?? null, right?.text() ?? null]
  const texts = { leftText, rightText }
  if (left === undefined) return { ...texts, what: `only in the right run ${rightText}`, details: [] }
  if (right === undefined) return { ...texts, what: `only in the left run ${leftText}`, details: [] }
  const details =
    left.key === right.key ? [...differences(left.said, right.said), ...differences(left.free, right.free)] : []
  return { ...texts, what: `${leftText}; in the right run ${rightText}`, details }
}
