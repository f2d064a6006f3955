import { divergenceCostInSlices, partingInSlices, type RunOutline } from "../insight/Divergence.ts"
import { runSliced, type Sliced } from "../values/Sliced.ts"

/** A run with its steps. */
export interface Course {
  readonly runId: string
  readonly outline: RunOutline
}

/** A cause of runs with another outcome than most. */
export interface FlipCause {
  /** Equal for the same participant, message type and action. */
  readonly key: string
  readonly count: number
  /** `risk-analyst voted REJECT after the second evaluation`. */
  readonly text: string
  /** The run of the majority that was compared. */
  readonly exampleLeft: string
  /** A run that parted here. */
  readonly exampleRight: string
}

/** Runs that a candidate for the middle of the majority is compared with. */
const OTHERS = 10

/** At most 11 items, evenly spaced over all of them. */
export const medoidCandidates = <A>(majority: ReadonlyArray<A>): ReadonlyArray<A> => {
  const count = Math.min(majority.length, OTHERS + 1)
  return majority.filter(
    (_, at) => Math.floor((at * count) / majority.length) !== Math.floor(((at - 1) * count) / majority.length)
  )
}

/** The run with the smallest sum of divergence costs to the others, the first of several; undefined without runs. */
export function* medoidInSlices(candidates: ReadonlyArray<Course>): Sliced<Course | undefined> {
  let medoid: Course | undefined
  let least = Number.POSITIVE_INFINITY
  for (const candidate of candidates) {
    let sum = 0
    for (const { outline } of candidates) sum += yield* divergenceCostInSlices(candidate.outline, outline)
    if (sum < least) [medoid, least] = [candidate, sum]
  }
  return medoid
}

/** Counts the causes of the minority's runs, one run at a time. */
export interface FlipCounter {
  readonly take: (run: Course) => Sliced<void>
  /** The causes, the largest first. */
  readonly read: () => ReadonlyArray<FlipCause>
}

export const flipCounter = (medoid: Course): FlipCounter => {
  const causes = new Map<string, FlipCause>()
  const take = function* ({ outline, runId }: Course): Sliced<void> {
    const parting = yield* partingInSlices(medoid.outline, outline)
    const { participantId = "", type = "", what = "no difference is on record", after } = parting ?? {}
    const key = JSON.stringify([participantId, type, what])
    const known = causes.get(key)
    const text = [participantId, what, after === undefined ? "" : `after ${after}`].filter((part) => part !== "")
    causes.set(
      key,
      known === undefined
        ? { key, count: 1, text: text.join(" "), exampleLeft: medoid.runId, exampleRight: runId }
        : { ...known, count: known.count + 1 }
    )
  }
  return {
    take,
    read: () => [...causes.values()].sort((left, right) => right.count - left.count || (left.key < right.key ? -1 : 1))
  }
}

/**
 * The causes of all runs with another outcome than the reference. They are compared with the run in the middle of those
 * that have it, or without one with a recorded run.
 */
export const flipsOf = (
  reference: ReadonlyArray<Course>,
  others: ReadonlyArray<Course>,
  recorded?: Course
): ReadonlyArray<FlipCause> => {
  const medoid = runSliced(medoidInSlices(medoidCandidates(reference))) ?? recorded
  if (medoid === undefined) return []
  const counter = flipCounter(medoid)
  for (const run of others) runSliced(counter.take(run))
  return counter.read()
}
