import type { Statement } from "../insight/Act.ts"
import { actionLog } from "../insight/ActionLog.ts"
import { isAllowed, type SessionRules } from "../insight/ActivePolicy.ts"
import { MAX_ENUMERATED } from "../insight/forecast/ModeForecast.ts"
import type { SeatAct } from "./SeatRules.ts"

/**
 * Whether a seat can still change what the session may decide: `yes`, `no`, or `unknown` where too much is open to try
 * all of it. This is about the end of the session, not about its next message as the forecast's `pivotal` is.
 *
 * It tries every completion by the others, and under each every act of the seat and its silence: the outcomes that are
 * then allowed are the same for all of them, or the seat has influence.
 */
export const seatInfluence = (
  { mode, terms }: SessionRules,
  acts: ReadonlyArray<Statement>,
  seat: string,
  seatActs: ReadonlyArray<SeatAct>,
  proposalId: string
): "yes" | "no" | "unknown" => {
  if (mode === "handoff") return "yes"
  if (mode !== "decision" && mode !== "quorum") return "unknown"
  const opening = mode === "decision" ? "Proposal" : "ApprovalRequest"
  // Several subjects are tallied together, and each voter has a vote on each: too much to try.
  if (acts.filter(({ type }) => type === opening).length !== 1) return "unknown"
  const types: ReadonlyArray<string> = mode === "decision" ? ["Vote"] : QUORUM_BALLOTS
  const voted = new Set(acts.flatMap(({ by, type }) => (types.includes(type) ? [by] : [])))
  const open = terms.participants.filter((one) => one !== seat && !voted.has(one))
  if (open.length > MAX_ENUMERATED) return "unknown"
  const takesMore = mode === "decision" && voted.size === 0
  const { rules } = terms.policy
  const { critical_severity_vetoes, veto_threshold } = rules.objection_handling
  const vetoThreshold = critical_severity_vetoes ? veto_threshold : 0
  if (vetoThreshold > MAX_VETOES) return "unknown"
  const own = ownActs(mode, seat, seatActs, proposalId, { takesMore, vetoThreshold })
  const outcomesAfter = (statements: ReadonlyArray<Statement>) => {
    const record = actionLog(mode, [...acts, ...statements], rules)
    return `${isAllowed(terms, record, true)} ${isAllowed(terms, record, false)}`
  }
  const weights = new Map(Object.entries(rules.voting.weights))
  const classes = [...Map.groupBy(open, (one) => weights.get(one)).values()]
  const ballots = classes.map((members) => ballotsOf(mode, members, proposalId))
  if (ballots.reduce((total, { length }) => total * length, 1) > MAX_COMPLETIONS) return "unknown"
  const before = takesMore
    ? discussions(open, proposalId, vetoThreshold, rules.evaluation.required_before_voting)
    : [[]]
  for (const discussed of before) {
    for (const completion of products(ballots)) {
      const others = [...discussed, ...completion]
      const [first, ...rest] = own.map((statements) => outcomesAfter([...others, ...statements]))
      if (rest.some((outcomes) => outcomes !== first)) return "yes"
    }
  }
  return "no"
}

const QUORUM_BALLOTS = ["Approve", "Reject", "Abstain"]
/** Completions that are tried. */
const MAX_COMPLETIONS = 5_000
/** Objections of a veto that are tried. */
const MAX_VETOES = 8

/** What the seat may do, silence first. */
const ownActs = (
  mode: "decision" | "quorum",
  by: string,
  seatActs: ReadonlyArray<SeatAct>,
  proposalId: string,
  { takesMore, vetoThreshold }: { readonly takesMore: boolean; readonly vetoThreshold: number }
): ReadonlyArray<ReadonlyArray<Statement>> => {
  const ballots = seatActs.flatMap((act): ReadonlyArray<Statement> => {
    if (mode === "quorum") {
      const type = QUORUM_TYPES[act]
      return type === undefined ? [] : [{ by, type, proposalId }]
    }
    return (VOTES[act] ?? []).map((vote) => ({ by, type: "Vote", proposalId, vote }))
  })
  const spoken: ReadonlyArray<ReadonlyArray<Statement>> = [[], ...ballots.map((ballot) => [ballot])]
  if (!takesMore) return spoken
  // One participant may object several times, which some releases count as several vetoes.
  const vetoes = objectionsBy([by], Math.max(1, vetoThreshold), proposalId)
  const evaluation = { by, type: "Evaluation", proposalId, recommendation: "APPROVE", confidence: 1 }
  const objected = seatActs.includes("object") ? spoken.map((one) => [...vetoes, ...one]) : []
  const evaluated = seatActs.includes("evaluate") ? spoken.map((one) => [evaluation, ...one]) : []
  return [...spoken, ...objected, ...evaluated]
}

const QUORUM_TYPES: Readonly<Partial<Record<SeatAct, string>>> = {
  approve: "Approve",
  reject: "Reject",
  abstain: "Abstain"
}
const VOTES: Readonly<Partial<Record<SeatAct, ReadonlyArray<string>>>> = {
  vote: ["APPROVE", "REJECT"],
  abstain: ["ABSTAIN"]
}

/** How many of voters of one weight approve, reject, abstain, or say nothing: every distribution once. */
const ballotsOf = (
  mode: "decision" | "quorum",
  members: ReadonlyArray<string>,
  proposalId: string
): ReadonlyArray<ReadonlyArray<Statement>> => {
  const found: Array<ReadonlyArray<Statement>> = []
  const cast = (from: number, count: number, vote: string): ReadonlyArray<Statement> =>
    members
      .slice(from, from + count)
      .map((by) =>
        mode === "decision"
          ? { by, type: "Vote", proposalId, vote }
          : { by, type: QUORUM_VOTES[vote] ?? vote, proposalId }
      )
  for (let approve = 0; approve <= members.length; approve += 1) {
    for (let reject = 0; approve + reject <= members.length; reject += 1) {
      for (let abstain = 0; approve + reject + abstain <= members.length; abstain += 1) {
        found.push([
          ...cast(0, approve, "APPROVE"),
          ...cast(approve, reject, "REJECT"),
          ...cast(approve + reject, abstain, "ABSTAIN")
        ])
      }
    }
  }
  return found
}

const QUORUM_VOTES: Readonly<Record<string, string>> = { APPROVE: "Approve", REJECT: "Reject", ABSTAIN: "Abstain" }

/** What the others may still say before they vote: evaluated or not, with up to the objections that veto. */
const discussions = (
  open: ReadonlyArray<string>,
  proposalId: string,
  vetoThreshold: number,
  needsEvaluation: boolean
): ReadonlyArray<ReadonlyArray<Statement>> => {
  const [by] = open
  if (by === undefined) return [[]]
  const objections = Array.from({ length: vetoThreshold + 1 }, (_, count) => objectionsBy(open, count, proposalId))
  const evaluation = { by, type: "Evaluation", proposalId, recommendation: "APPROVE", confidence: 1 }
  return needsEvaluation ? objections.flatMap((one) => [one, [evaluation, ...one]]) : objections
}

/** So many objections of these participants, in turn. */
const objectionsBy = (
  participants: ReadonlyArray<string>,
  count: number,
  proposalId: string
): ReadonlyArray<Statement> =>
  Array.from({ length: count }, (_, at) => ({
    by: participants[at % participants.length] ?? "",
    type: "Objection",
    proposalId,
    severity: "critical"
  }))

function* products<A>(lists: ReadonlyArray<ReadonlyArray<ReadonlyArray<A>>>): Generator<ReadonlyArray<A>> {
  const [first, ...rest] = lists
  if (first === undefined) {
    yield []
    return
  }
  for (const one of first) for (const others of products(rest)) yield [...one, ...others]
}
