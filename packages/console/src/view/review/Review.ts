import { CORRECT, type MarkTarget, type NewMark } from "@runplane/domain"
import { isSameTarget } from "../marks/Marks.ts"

/** A mark that a reviewer gave in this tab. It stays until the service has stored it, or the reviewer removes it. */
export interface GivenMark {
  /** Its idempotency key: a retry of a mark that was stored returns the first one. */
  readonly key: string
  readonly runId: string
  /** Title of the run, for readers. */
  readonly title: string
  /** The caller who gave it; another one does not see it. */
  readonly by: string
  readonly mark: NewMark
  readonly state: "storing" | "stored" | "failed"
  readonly isRemoving: boolean
  /** Of the stored mark. */
  readonly id: string | undefined
  /** Why it was not stored, or not removed. */
  readonly problem: string | undefined
}

export type GivenMarks = ReadonlyArray<GivenMark>

export const given = (
  marks: GivenMarks,
  mark: Omit<GivenMark, "state" | "id" | "isRemoving" | "problem">
): GivenMarks => [...marks, { ...mark, state: "storing", isRemoving: false, id: undefined, problem: undefined }]

/** The marks with one of them changed; without it when it was removed meanwhile. */
export const changed = (marks: GivenMarks, key: string, change: Partial<GivenMark>): GivenMarks =>
  marks.map((mark) => (mark.key === key ? { ...mark, ...change } : mark))

export const dropped = (marks: GivenMarks, key: string): GivenMarks => marks.filter((mark) => mark.key !== key)

/** The marks that the service does not have. */
export const unstored = (marks: GivenMarks): GivenMarks => marks.filter(({ id }) => id === undefined)

/** The last mark that can be undone. */
export const lastGiven = (marks: GivenMarks): GivenMark | undefined => marks.findLast(({ isRemoving }) => !isRemoving)

/** Whether a mark has this run, target and name: a later one replaces it. */
export const isOfSubject = (
  { mark, runId }: GivenMark,
  run: string,
  { name, target }: Pick<NewMark, "name" | "target">
): boolean => runId === run && mark.name === name && isSameTarget(mark.target, target)

/** The runs that the reviewer has marked: those that the service knows, and those that were stored since. */
export const reviewedRuns = (known: ReadonlyArray<string>, marks: GivenMarks, name: string): ReadonlySet<string> =>
  new Set([
    ...known,
    ...marks.filter(({ mark, state }) => mark.name === name && state === "stored").map(({ runId }) => runId)
  ])

/** The next run without a mark of the reviewer, behind `at`, then from the start; undefined when all have one. */
export const nextUnreviewed = (
  runs: ReadonlyArray<string>,
  at: number,
  reviewed: ReadonlySet<string>
): number | undefined => {
  for (let step = 1; step <= runs.length; step++) {
    const next = (at + step) % runs.length
    const run = runs[next]
    if (run !== undefined && !reviewed.has(run)) return next
  }
  return undefined
}

/** A target as text in the address: `participant:ana`. */
export const targetText = ({ id, kind }: MarkTarget): string => (id === undefined ? kind : `${kind}:${id}`)

/** A target from the address; undefined for anything else than a run, a decision or a participant. */
export const targetOfText = (text: string): MarkTarget | undefined => {
  if (text === "run" || text === "decision") return { kind: text }
  const prefix = "participant:"
  const id = text.slice(prefix.length, prefix.length + 512)
  return text.startsWith(prefix) && id !== "" ? { kind: "participant", id } : undefined
}

/** The search of a queue: a mark of the decision is for runs that have one. */
export const queueSearch = (wanted: string, name: string): string =>
  name !== CORRECT ? wanted : wanted.trim() === "" ? HAS_DECISION : `(${wanted}) ${HAS_DECISION}`

const HAS_DECISION = "has:decisions"
