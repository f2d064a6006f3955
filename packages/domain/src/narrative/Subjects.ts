import type { CanonicalEvent } from "../events/CanonicalEvent.ts"
import { namesAmong } from "../run/ProposalNames.ts"

/** The subjects of a run so far: its proposals, requests, tasks and offers by id, each with its option. */
export type Subjects = ReadonlyMap<string, string>

export const noSubjects: Subjects = new Map()

/** Subjects that are followed, the first ones; a later one is cited by its id. */
const MAX_SUBJECTS = 1_000

/** The subjects after an event. One that is opened outside of the events that were read has its id for a name. */
export const withSubject = (subjects: Subjects, event: CanonicalEvent): Subjects => {
  if (event.type !== "proposal.created" && event.type !== "proposal.updated") return subjects
  const { action, proposalId, title } = event.data
  if (proposalId === "" || subjects.has(proposalId) || subjects.size >= MAX_SUBJECTS) return subjects
  const option = event.type === "proposal.created" ? (action ?? title ?? "") : ""
  return new Map([...subjects, [proposalId, option]])
}

/**
 * The name of the subject that an answer is about, as soon as there are two: a sentence about one of several has to say
 * which one it means. Undefined for a run with one subject, and for events that are not answers.
 */
export const subjectName = (subjects: Subjects, event: CanonicalEvent): string | undefined => {
  if (event.type !== "proposal.updated" || subjects.size < 2 || event.data.proposalId === "") return undefined
  return namerOf(subjects)(event.data.proposalId)
}

/** The names of the subjects, which are the same for all answers until another one is opened. */
const namers = new WeakMap<Subjects, (proposalId: string) => string>()

const namerOf = (subjects: Subjects) => {
  const known = namers.get(subjects)
  if (known !== undefined) return known
  const nameOf = namesAmong(subjects)
  namers.set(subjects, nameOf)
  return nameOf
}

/** Runs whose subjects are kept, the latest ones. */
const MAX_RUNS = 100

/**
 * Makes the function that names the subject of each event among those of its run, as far as the given events show them.
 * It takes events of many runs, in their order.
 */
export const subjectsOfRuns = (): ((event: CanonicalEvent) => string | undefined) => {
  const runs = new Map<string, Subjects>()
  return (event) => {
    const subjects = withSubject(runs.get(event.runId) ?? noSubjects, event)
    runs.delete(event.runId)
    runs.set(event.runId, subjects)
    for (const oldest of runs.keys()) {
      if (runs.size <= MAX_RUNS) break
      runs.delete(oldest)
    }
    return subjectName(subjects, event)
  }
}
