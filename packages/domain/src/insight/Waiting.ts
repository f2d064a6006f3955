import { OTLP_MODE_NAME } from "../events/MessageHeader.ts"
import type { ActivePolicy } from "./ActivePolicy.ts"
import { ballotsOf, hasBallots, subjectsOf } from "./Ballots.ts"
import type { Deliberation } from "./Deliberation.ts"
import type { Outstanding } from "./forecast/ModeForecast.ts"
import { decidingActs, namedSubjects } from "./Proposals.ts"

/** The ballots on one proposal or request, up to the commitment. */
export interface Voting {
  readonly proposalId: string
  readonly participants: number
  /** Participants without a ballot; an abstention is a ballot. */
  readonly notVoted: ReadonlyArray<string>
  /** "1 of 3 has not voted: py-lead" */
  readonly text: string
}

/** Subjects of one answer, the latest ones, and names in one sentence. */
const MAX_SUBJECTS = 20
const MAX_NAMES = 10

const isOver = ({ commitment, state }: Deliberation): boolean =>
  commitment !== undefined || (state !== "OPEN" && state !== "SUSPENDED")

const listed = (names: ReadonlyArray<string>): string =>
  names.length > MAX_NAMES
    ? `${names.slice(0, MAX_NAMES).join(", ")} and ${names.length - MAX_NAMES} more`
    : names.join(", ")

/**
 * Who has voted (docs/reference/decisions.md#votes): for modes with ballots, and only while the participants are known.
 * A participant that need not vote is without a ballot all the same, so the sentence says who opened the session.
 */
export const votingOf = (
  run: Deliberation,
  { sessionRules }: Pick<ActivePolicy, "sessionRules">
): ReadonlyArray<Voting> => {
  const { initiator, mode, modeName, participants } = run
  if (mode === undefined || !hasBallots(mode) || !run.areDeclared || participants.length === 0) return []
  const acts = decidingActs(run)
  const subjects = subjectsOf(acts)
  const names = namedSubjects(acts)
  const isSeen = modeName === OTLP_MODE_NAME
  const uncounted = mode === "decision" && sessionRules?.terms.policy.rules.voting.algorithm === "none"
  const of = isSeen ? `${participants.length} participants seen` : `${participants.length}`
  const named = (name: string) => (!isSeen && name === initiator ? `${name} (opened the session)` : name)
  const open = new Map<string, Array<string>>(subjects.slice(-MAX_SUBJECTS).map((subject) => [subject, []]))
  for (const { participantId, proposalId, vote } of ballotsOf({ acts, participants })) {
    if (vote === null) open.get(proposalId)?.push(participantId)
  }
  return Array.from(open, ([proposalId, notVoted]): Voting => {
    const about = subjects.length > 1 ? `on ${names.get(proposalId) ?? proposalId}: ` : ""
    const [verb, all] = isOver(run) ? ["had", "had"] : [notVoted.length === 1 ? "has" : "have", "have"]
    const said =
      notVoted.length === 0
        ? participants.length === 1
          ? `the only participant ${isOver(run) ? "had" : "has"} voted`
          : `all ${of} ${all} voted`
        : `${notVoted.length} of ${of} ${verb} not voted: ${listed(notVoted.map(named))}`
    const text = `${about}${said}${uncounted ? " (the policy counts no votes)" : ""}`
    return { proposalId, participants: participants.length, notVoted, text }
  })
}

/**
 * What an open run waits for, as far as its log shows it, in one sentence; undefined for a run that is over and for a
 * mode without known rules.
 */
export const waitingFor = (
  run: Deliberation,
  by: Pick<ActivePolicy, "sessionRules">,
  outstanding: ReadonlyArray<Outstanding>
): string | undefined => {
  if (isOver(run)) return undefined
  if (run.state === "SUSPENDED") return "the session is suspended"
  if (run.modeName === "") return "no message of its session is on record yet"
  const { mode } = run
  if (mode === undefined) return undefined
  if (hasBallots(mode)) {
    if (subjectsOf(run.acts).length === 0) {
      return mode === "quorum" ? "no approval is requested yet" : "nothing is proposed yet"
    }
    const voting = votingOf(run, by)
    const open = voting.filter(({ notVoted }) => notVoted.length > 0)
    if (open.length > 0) return open.map(({ text }) => text).join("; ")
    return [...voting.map(({ text }) => text), UNCOMMITTED].join("; ")
  }
  if (outstanding.length === 0) return UNCOMMITTED
  return [...byActs(outstanding)].map(([acts, names]) => `${listed(names)} can still send ${acts}`).join("; ")
}

const UNCOMMITTED = "no commitment is on record yet"

/** Participants by what they can still send. */
const byActs = (outstanding: ReadonlyArray<Outstanding>): ReadonlyMap<string, ReadonlyArray<string>> => {
  const grouped = new Map<string, Array<string>>()
  for (const { acts, participantId } of outstanding) {
    const text = acts.length > 1 ? `${acts.slice(0, -1).join(", ")} or ${acts.at(-1)}` : acts.join("")
    grouped.set(text, [...(grouped.get(text) ?? []), participantId])
  }
  return grouped
}
