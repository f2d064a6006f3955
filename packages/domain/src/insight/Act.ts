import type { EventOf } from "../events/CanonicalEvent.ts"
import { OTLP_MODE_NAME } from "../events/MessageHeader.ts"
import type { AnswerFact } from "../events/PeopleFacts.ts"
import type { PolicyRules } from "../policies/RuleSchemas.ts"
import type { SessionRecord } from "../policies/SessionRecord.ts"
import { voteOf } from "../run/Outcome.ts"
import { boundName, boundProse } from "../values/Bounds.ts"
import { refusalUnder } from "./RefusedActs.ts"

/** A mode whose commitments policies govern. */
export type StandardMode = SessionRecord["mode"]

export const STANDARD_MODES: ReadonlyArray<StandardMode> = ["decision", "proposal", "task", "handoff", "quorum"]

/** The mode that a mode id names, undefined for one without rules of ours. */
export const standardMode = (modeName: string): StandardMode | undefined =>
  STANDARD_MODES.find((mode) => ruleModeName(modeName) === `macp.mode.${mode}.v1`)

/** The mode whose policies apply: an ingested run decides by the messages of the decision mode. */
export const ruleModeName = (modeName: string): string =>
  modeName === OTLP_MODE_NAME ? "macp.mode.decision.v1" : modeName

/** The position of an event in the log and in its run, and its time. */
export interface LogPosition {
  readonly seq: number
  readonly index: number
  readonly ts: string
}

/** The part of one message in a decision. `type` is the message type and determines the other members. */
export interface Statement {
  readonly by: string
  readonly type: string
  /** The proposal, request, task or handoff that it is about. */
  readonly proposalId: string
  /** APPROVE, REJECT or ABSTAIN. */
  readonly vote?: string | undefined
  /** In upper case. */
  readonly recommendation?: string | undefined
  readonly confidence?: number | undefined
  /** In lower case. */
  readonly severity?: string | undefined
  /** What is proposed, in words. */
  readonly option?: string | undefined
  readonly reason?: string | undefined
  readonly terminal?: boolean | undefined
  readonly requiredApprovals?: number | undefined
  /** The addressee: the target of an offer, the assignee that a request names. */
  readonly target?: string | undefined
  readonly outputBytes?: number | undefined
}

/** Why an act does not count. */
export type Skipped =
  | "stranger"
  | "nothing known by this id"
  | "of another mode"
  | "unreadable"
  | "refused by the rules"
  | "changed later"

export interface Act extends Statement, LogPosition {
  readonly skipped?: Skipped
  /** The answer of a person, or of a deadline, whose message this is. */
  readonly answer?: AnswerFact
}

/** Types that propose something, and types that answer it, by mode. */
const openings: Readonly<Record<StandardMode, ReadonlyArray<string>>> = {
  decision: ["Proposal"],
  proposal: ["Proposal", "CounterProposal"],
  task: ["TaskRequest"],
  handoff: ["HandoffOffer"],
  quorum: ["ApprovalRequest"]
}
const answers: Readonly<Record<StandardMode, ReadonlyArray<string>>> = {
  decision: ["Evaluation", "Objection", "Vote"],
  proposal: ["Accept", "Reject", "Withdraw"],
  task: ["TaskAccept", "TaskReject", "TaskUpdate", "TaskComplete", "TaskFail"],
  handoff: ["HandoffContext", "HandoffAccept", "HandoffDecline"],
  quorum: ["Approve", "Reject", "Abstain"]
}
/** Only the last of these counts for each sender and proposal. */
const REPLACED: ReadonlySet<string> = new Set(["Vote"])
/** Only the last of these counts for each sender, over all proposals. */
const MOVED: ReadonlySet<string> = new Set(["Accept"])
const BALLOTS: ReadonlySet<string> = new Set(answers.quorum)

export const isOpening = (mode: StandardMode, type: string): boolean => openings[mode].includes(type)

/** Bound of a free text, bytes. */
const MAX_ACT_TEXT_BYTES = 1_024

const prose = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : boundProse(text, MAX_ACT_TEXT_BYTES)
const word = (text: string | undefined): string | undefined => (text === undefined ? undefined : boundName(text.trim()))

/** The members of a contribution; its texts are bounded, and different ids stay different. */
export const readAct = (event: EventOf<"proposal.created" | "proposal.updated">): Act => {
  const { data, index, seq, ts } = event
  const { messageType, severity, task, vote } = data
  return {
    seq,
    index,
    ts,
    by: data.sender,
    type: messageType,
    proposalId: boundName(data.proposalId),
    vote: messageType === "Vote" ? ballotOf(vote) : undefined,
    recommendation: word(data.recommendation)?.toUpperCase(),
    confidence: data.confidence,
    severity: messageType === "Objection" ? (word(severity)?.toLowerCase() ?? "medium") : undefined,
    option: prose(data.action ?? data.title ?? data.prompt),
    reason: prose(data.reason ?? data.rationale ?? data.summary ?? data.reasons[0]),
    terminal: data.terminal,
    requiredApprovals: data.requiredApprovals,
    target: data.handoff?.targetParticipant ?? task?.requestedAssignee,
    outputBytes: messageType === "TaskComplete" ? task?.outputBytes : undefined
  }
}

const ballotOf = (stated: string | undefined): string | undefined => {
  const vote = voteOf("Vote", stated)
  if (vote !== undefined) return vote === "allow" ? "APPROVE" : "REJECT"
  return stated?.trim().toUpperCase() === "ABSTAIN" ? "ABSTAIN" : undefined
}

interface Committee {
  readonly mode: StandardMode
  readonly initiator: string
  readonly participants: ReadonlyArray<string>
  /** Rules other than those of the session, which may refuse acts. */
  readonly rules?: PolicyRules
}

/**
 * Marks the acts that do not count: those of strangers, of another mode, about nothing on record, that cannot be read,
 * that the rules refuse, and that their sender replaced later.
 */
export const evaluateActs = (committee: Committee, acts: ReadonlyArray<Act>): ReadonlyArray<Act> => {
  const { initiator, mode, rules } = committee
  const isRefused = rules === undefined ? () => false : refusalUnder(mode, rules)
  const members = new Set(committee.participants)
  const known = new Set<string>()
  const counted = acts.map((evaluated): Act => {
    const act = unevaluated(evaluated)
    const opens = isOpening(mode, act.type)
    if (!opens && !answers[mode].includes(act.type)) return { ...act, skipped: "of another mode" }
    const isRequest = opens && mode !== "decision" && mode !== "proposal"
    if (!members.has(act.by) && !(isRequest && act.by === initiator)) return { ...act, skipped: "stranger" }
    if (opens) known.add(act.proposalId)
    else if (!known.has(act.proposalId)) return { ...act, skipped: "nothing known by this id" }
    if (act.type === "Vote" && act.vote === undefined) return { ...act, skipped: "unreadable" }
    return isRefused(act) ? { ...act, skipped: "refused by the rules" } : act
  })
  return withoutReplaced(mode, counted)
}

const unevaluated = (act: Act): Act => {
  if (act.skipped === undefined) return act
  const { skipped: _, ...rest } = act
  return rest
}

const withoutReplaced = (mode: StandardMode, acts: ReadonlyArray<Act>): ReadonlyArray<Act> => {
  const later = new Set<string>()
  const last = [...acts].reverse().map((act): Act => {
    const key = act.skipped === undefined ? replacedKey(mode, act) : undefined
    if (key === undefined) return act
    if (later.has(key)) return { ...act, skipped: "changed later" }
    later.add(key)
    return act
  })
  return last.reverse()
}

const replacedKey = (mode: StandardMode, { by, proposalId, type }: Act): string | undefined => {
  // With the length in front no two pairs are written alike.
  if (REPLACED.has(type) || (mode === "quorum" && BALLOTS.has(type))) return `${by.length} ${by} ${proposalId}`
  return MOVED.has(type) ? by : undefined
}
export const counting = (acts: ReadonlyArray<Act>): ReadonlyArray<Act> =>
  acts.filter(({ skipped }) => skipped === undefined)
