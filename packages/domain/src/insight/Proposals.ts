import { namesAmong, wordKey } from "../run/ProposalNames.ts"
import { type Act, counting, evaluateActs } from "./Act.ts"
import { subjectsOf } from "./Ballots.ts"
import type { Deliberation } from "./Deliberation.ts"

/**
 * The proposals and requests that these acts opened, in order, each with the name that sentences use: its option where
 * that is short and no other has it, else its id.
 */
export const namedSubjects = (acts: ReadonlyArray<Act>): ReadonlyMap<string, string> => {
  const nameOf = namesAmong(new Map(optionsOf(acts)))
  return new Map(subjectsOf(acts).map((proposalId) => [proposalId, nameOf(proposalId)]))
}

/** The option of each proposal as its first message states it, without the ones that state none. */
export const optionsOf = (acts: ReadonlyArray<Act>): ReadonlyArray<readonly [proposalId: string, option: string]> => {
  const seen = new Map<string, string>()
  for (const { option, proposalId, skipped, type } of acts) {
    if (skipped !== undefined || option === undefined || seen.has(proposalId)) continue
    if (type === "Proposal" || type === "ApprovalRequest") seen.set(proposalId, option)
  }
  return [...seen]
}

/**
 * The acts that have a part in the decision: those before the commitment, judged as if later ones had not come. A vote
 * that its sender changes after the commitment counts as it was.
 */
export const decidingActs = (run: Deliberation): ReadonlyArray<Act> => {
  const { acts, commitment, initiator, mode, participants } = run
  if (commitment === undefined) return acts
  const before = acts.filter(({ index }) => index < commitment.index)
  return mode === undefined ? before : evaluateActs({ mode, initiator, participants }, before)
}

/**
 * The proposal that the commitment is about: the one that its id, its action or the begin of its reason names, or the
 * only one. A commitment names its proposal by text alone; undefined when none or several fit.
 */
export const committedSubject = (run: Deliberation, acts = decidingActs(run)): string | undefined => {
  const { commitment } = run
  if (commitment === undefined) return undefined
  const counted = counting(acts)
  const subjects = subjectsOf(counted)
  const { action, positive, proposalId, reason } = commitment
  if (proposalId !== undefined && subjects.includes(proposalId)) return proposalId
  const options = new Map(optionsOf(counted))
  const called = (text: string) => {
    const wanted = wordKey(text)
    const found = subjects.filter((id) => wordKey(id) === wanted || wordKey(options.get(id) ?? "") === wanted)
    return wanted !== "" && found.length === 1 ? found[0] : undefined
  }
  // "go: 3 approve, 0 reject". A decline can begin with the option that it chooses instead.
  const stated = positive === false ? undefined : reason?.split(":", 1)[0]
  return called(action) ?? called(stated ?? "") ?? (subjects.length === 1 ? subjects[0] : undefined)
}
