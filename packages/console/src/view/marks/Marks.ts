import type { MarkPair } from "@runplane/api"
import {
  COMMENT,
  CORRECT,
  correctFlag,
  type Mark,
  type MarkDefinition,
  type MarkTarget,
  type MarkValue
} from "@runplane/domain"
import type { Tone } from "../format/Status.ts"

const NUMBER = new Intl.NumberFormat("en-US", { maximumFractionDigits: 3 })

/** A value for readers: `correct` says whether the decision was right, or which action would have been. */
export const valueText = (name: string, value: MarkValue): string => {
  if (name === CORRECT) {
    const isRight = correctFlag(value)
    return isRight === undefined ? `right would be ${value}` : isRight ? "right" : "wrong"
  }
  return typeof value === "number" ? NUMBER.format(value) : String(value)
}

/** The text of a mark in the space of a row; a comment is its own text. */
export const markText = ({ comment, name, value }: Pick<Mark, "comment" | "name" | "value">): string =>
  value === undefined ? "deleted" : name === COMMENT ? (comment ?? "") : valueText(name, value)

/** The colour of a value: by its definition, and calm where no value is better. */
export const valueTone = (name: string, value: MarkValue, definition: MarkDefinition | undefined): Tone => {
  if (name === CORRECT) {
    // The text of an action may be the decided one.
    const isRight = correctFlag(value)
    return isRight === undefined ? "calm" : isRight ? "good" : "bad"
  }
  if (definition?.better === undefined) return "calm"
  const { better, categories = [], max, min } = definition
  if (typeof value === "boolean") return (better === "true") === value ? "good" : "bad"
  if (typeof value === "string") return toneOfShare(1 - categories.indexOf(value) / Math.max(1, categories.length - 1))
  if (min === undefined || max === undefined || max <= min) return "calm"
  const share = (value - min) / (max - min)
  return toneOfShare(better === "lower" ? 1 - share : share)
}

/** Of a share from 0, the worst, to 1; a value outside of its definition is calm. */
const toneOfShare = (share: number): Tone =>
  share < 0 || share > 1 ? "calm" : share >= 2 / 3 ? "good" : share <= 1 / 3 ? "bad" : "calm"

/** A value with its key in the review queue. */
export interface Choice {
  /** Absent beyond the ninth. */
  readonly key: string | undefined
  readonly value: MarkValue
}

const KEYS = 9

/**
 * The values of a definition in order. Those of `correct` are followed by the actions that would have been right.
 */
export const choicesOf = (
  definition: MarkDefinition | undefined,
  actions: ReadonlyArray<string> = []
): ReadonlyArray<Choice> => {
  if (definition === undefined) return []
  const { categories = [], kind, max, min, name } = definition
  const values: ReadonlyArray<MarkValue> =
    name === CORRECT
      ? [true, false, ...actions]
      : kind === "flag"
        ? [true, false]
        : kind === "category"
          ? categories
          : min === undefined || max === undefined
            ? []
            : stepsOf(min, max)
  return values.map((value, at) => ({ key: at < KEYS ? String(at + 1) : undefined, value }))
}

/** At most nine numbers over a range: all whole numbers of a short one, else the most steps with two digits. */
export const stepsOf = (min: number, max: number): ReadonlyArray<number> => {
  const length = max - min
  if (!(length > 0)) return [min]
  if (Number.isInteger(min) && Number.isInteger(max) && length > 1 && length < KEYS) return evenly(min, max, length)
  for (let parts = KEYS - 1; parts > 2; parts--) if (isRound(length / parts)) return evenly(min, max, parts)
  return evenly(min, max, 4)
}

const isRound = (step: number) => Number(step.toPrecision(2)) === Number(step.toPrecision(12))

const evenly = (min: number, max: number, parts: number) =>
  Array.from({ length: parts + 1 }, (_, at) => Number((min + ((max - min) * at) / parts).toPrecision(12)))

/** The marks of a run by what they judge. */
export interface AssignedMarks {
  /** Of the run and of its decision. */
  readonly ofRun: ReadonlyArray<Mark>
  readonly byParticipant: ReadonlyMap<string, ReadonlyArray<Mark>>
  /** By the index of the event that they judge. */
  readonly byIndex: ReadonlyMap<number, ReadonlyArray<Mark>>
  /** These indexes in order. */
  readonly indexes: ReadonlyArray<number>
}

export const assignMarks = (marks: ReadonlyArray<Mark>): AssignedMarks => {
  const byParticipant = new Map<string, Array<Mark>>()
  const byIndex = new Map<number, Array<Mark>>()
  const add = <Key>(map: Map<Key, Array<Mark>>, key: Key, mark: Mark) => {
    const found = map.get(key)
    if (found === undefined) map.set(key, [mark])
    else found.push(mark)
  }
  for (const mark of marks) {
    if (mark.target.kind === "participant" && mark.target.id !== undefined) add(byParticipant, mark.target.id, mark)
    if (mark.index !== undefined) add(byIndex, mark.index, mark)
  }
  return {
    ofRun: marks.filter(({ target }) => target.kind === "run" || target.kind === "decision"),
    byParticipant,
    byIndex,
    indexes: [...byIndex.keys()].toSorted((one, other) => one - other)
  }
}

/** Whether the mark counts: it was neither replaced nor deleted. */
export const isCurrent = ({ deletedAt, replacedBy }: Mark): boolean =>
  deletedAt === undefined && replacedBy === undefined

/** Whether two targets are the same. A decision without an id is the last one, which a mark may have by its id. */
export const isSameTarget = (one: MarkTarget, other: MarkTarget): boolean =>
  one.kind === other.kind &&
  (one.id === other.id || (one.kind === "decision" && (one.id === undefined || other.id === undefined)))

/**
 * The marks that a reader of the blind mode may see: those of others appear after an own one of the name, and those of
 * the name on another target after an own one there.
 */
export const unblinded = (marks: ReadonlyArray<Mark>, me: string, name: string): ReadonlyArray<Mark> => {
  const isOwn = ({ author, source }: Mark) => author === me && source === "human"
  const given = marks.filter((mark) => isOwn(mark) && mark.name === name && isCurrent(mark))
  return marks.filter(
    (mark) =>
      isOwn(mark) ||
      (given.length > 0 && (mark.name !== name || given.some(({ target }) => isSameTarget(target, mark.target))))
  )
}

/**
 * Whether a review is blind: as the reviewer has chosen, else where a judge has marked the run, whose value would
 * become the reviewer's.
 */
export const isBlind = (chosen: boolean | undefined, marks: ReadonlyArray<Mark>): boolean =>
  chosen ?? marks.some((mark) => mark.source === "judge" && isCurrent(mark))

/** The author for readers. */
export const authorText = ({ author, authorName, judge, source }: Mark): string =>
  source === "judge" ? (judge?.name ?? authorName ?? author) : (authorName ?? author)

/** `κ 0.21, n 40`, of a judge with people. */
export const kappaText = ({ kappa, n }: Pick<MarkPair, "kappa" | "n">): string =>
  `κ ${kappa === undefined ? "unknown" : kappa.value.toFixed(2)}, n ${n}`

/** Comments, the oldest first, as a conversation. */
export const commentsOf = (marks: ReadonlyArray<Mark>): ReadonlyArray<Mark> =>
  marks.filter(({ name }) => name === COMMENT).toSorted((one, other) => one.createdAt.localeCompare(other.createdAt))

/** The names of marks that judges gave. */
export const judgedNames = (marks: ReadonlyArray<Mark>): ReadonlyArray<string> => [
  ...new Set(marks.filter(({ source }) => source === "judge").map(({ name }) => name))
]
