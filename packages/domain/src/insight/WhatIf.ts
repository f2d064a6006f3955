import * as Data from "effect/Data"
import * as Result from "effect/Result"
import type { PolicyText } from "../policies/Policy.ts"
import { boundName } from "../values/Bounds.ts"
import { runSliced, type Sliced } from "../values/Sliced.ts"
import { type Act, counting, evaluateActs } from "./Act.ts"
import { type ActivePolicy, type SessionRules, underPolicy } from "./ActivePolicy.ts"
import { type Ballot, ballotsOf, hasBallots, subjectsOf, VOTE_VALUES, type VoteValue, withBallots } from "./Ballots.ts"
import type { Deliberation } from "./Deliberation.ts"
import type { OutcomeName } from "./Forecast.ts"
import { MAX_ENUMERATED, smallestSetsInSlices } from "./forecast/ModeForecast.ts"
import { type Position, positionUnder, trialsOf } from "./Position.ts"

/** The changes to try. */
export interface Changes {
  /** In place of the policy that governed the run. */
  readonly policy?: PolicyText
  /** In place of those that were cast, or beside them; without `proposalId` on the only thing that was voted on. */
  readonly votes?: ReadonlyArray<{
    readonly participantId: string
    readonly proposalId?: string
    readonly vote: string
  }>
  /** Participants whose messages are ignored. They still count as declared. */
  readonly without?: ReadonlyArray<string>
}

export interface Verdict {
  /** The outcome that the runtime evaluated; positive for a run without decision. */
  readonly outcome: OutcomeName
  readonly allowed: boolean
  readonly reasons: ReadonlyArray<string>
}

/** One changed vote. */
export interface VoteChange {
  readonly participantId: string
  readonly proposalId: string
  /** Null when there was none. */
  readonly from: VoteValue | null
  readonly to: VoteValue
}

export interface WhatIf {
  readonly before: Verdict
  readonly after: Verdict
  readonly changed: boolean
  /** Votes of which each by itself would turn the verdict after the changes; none when they are too many to try. */
  readonly pivotal: ReadonlyArray<VoteChange>
  /** Fewest votes that would turn it; empty when none do. */
  readonly smallestChange: ReadonlyArray<VoteChange>
  /** `bounds`: fewer may do, as there are too many votes to try all sets. */
  readonly basis: "exact" | "bounds"
  readonly notes: ReadonlyArray<string>
}

/** The changes do not fit this run; `field` is the member at fault, empty for none. */
export class WhatIfRefused extends Data.TaggedError("WhatIfRefused")<{
  readonly field: string
  readonly why: string
}> {
  override get message(): string {
    return this.field === "" ? this.why : `${this.field}: ${this.why}`
  }
}

/** Possible votes up to which any are tried. */
const MAX_BALLOTS = 20_000

/** The verdict on a run under other rules, with other votes, or without some participants. */
export const whatIf = (run: Deliberation, by: ActivePolicy, changes: Changes): Result.Result<WhatIf, WhatIfRefused> =>
  runSliced(whatIfInSlices(run, by, changes))

/** The same in slices, for long runs. */
export function* whatIfInSlices(
  run: Deliberation,
  by: ActivePolicy,
  changes: Changes
): Sliced<Result.Result<WhatIf, WhatIfRefused>> {
  const other = changes.policy === undefined ? by : underPolicy(run, changes.policy)
  const { sessionRules } = other
  if (sessionRules === undefined)
    return refused(changes.policy === undefined ? "" : "policy", other.fault ?? "no rules are known")
  const members = new Set(run.participants)
  const stranger = changes.without?.findIndex((one) => !members.has(one)) ?? -1
  if (stranger >= 0) return refused(`without.${stranger}`, `${changes.without?.[stranger]} does not take part`)
  const changed = changedActs(run, sessionRules, changes)
  if (Result.isFailure(changed)) return Result.fail(changed.failure)
  const acts = changed.success
  const outcome: OutcomeName = run.commitment?.evaluatedPositive === false ? "negative" : "positive"
  yield
  const before = verdictBefore(run, by, outcome)
  yield
  const position = positionUnder(run, sessionRules)
  const after = verdictOf(position, acts, outcome)
  yield
  return Result.succeed({
    before,
    after,
    changed: before.allowed !== after.allowed,
    ...(yield* votesThatTurn(run, sessionRules, position, acts, after)),
    notes: [
      ...run.notes,
      ...(by.sessionRules === undefined && by.fault !== undefined ? [by.fault] : []),
      ...refusedUnder(run, sessionRules, acts)
    ]
  })
}

/** Refused messages that a note names. */
const MAX_NAMED = 10

/** A note on the messages of the run that the rules refuse, because the verdict is without them. */
const refusedUnder = (
  { initiator, participants }: Deliberation,
  { mode, terms }: SessionRules,
  acts: ReadonlyArray<Act>
): ReadonlyArray<string> => {
  const { rules } = terms.policy
  const judged = evaluateActs({ mode, initiator, participants, rules }, acts)
  const refused = judged.filter(({ skipped }) => skipped === "refused by the rules")
  if (refused.length === 0) return []
  const named = refused.slice(0, MAX_NAMED).map(({ by, proposalId, type }) => `${type} ${proposalId} of ${by}`)
  const others = refused.length > named.length ? ` and ${refused.length - named.length} more` : ""
  return [`not counted, as these rules refuse it: ${named.join(", ")}${others}`]
}

const verdictBefore = (run: Deliberation, by: ActivePolicy, outcome: OutcomeName): Verdict => {
  if (by.sessionRules !== undefined)
    return verdictOf(positionUnder(run, by.sessionRules), actsUnderDecision(run), outcome)
  // What the runtime accepted was allowed, also where its rules are no longer known.
  if (run.commitment !== undefined) return { outcome, allowed: true, reasons: [] }
  return { outcome, allowed: false, reasons: [by.fault ?? "no rules are known"] }
}

const refused = (field: string, why: string) => Result.fail(new WhatIfRefused({ field, why }))

/** Acts after the commitment have no part in it. */
const actsUnderDecision = ({ acts, commitment }: Deliberation): ReadonlyArray<Act> =>
  commitment === undefined ? acts : acts.filter(({ index }) => index < commitment.index)

const verdictOf = (position: Position, acts: ReadonlyArray<Act>, outcome: OutcomeName): Verdict => {
  const reasons = position.objections(acts, outcome === "positive").map(({ text }) => text)
  return { outcome, allowed: reasons.length === 0, reasons }
}

const changedActs = (
  run: Deliberation,
  { mode }: SessionRules,
  { votes = [], without = [] }: Changes
): Result.Result<ReadonlyArray<Act>, WhatIfRefused> => {
  const gone = new Set(without)
  const acts = actsUnderDecision(run).filter(({ by }) => !gone.has(by))
  if (votes.length === 0) return Result.succeed(acts)
  if (!hasBallots(mode)) return refused("votes", `a run of the ${mode} mode has no votes`)
  const subjects = subjectsOf(acts)
  const ballots: Array<Ballot & { readonly vote: VoteValue }> = []
  const known = new Set(subjects)
  const members = new Set(run.participants)
  for (const [at, { participantId, proposalId, vote }] of votes.entries()) {
    const field = `votes.${at}`
    const word = VOTE_VALUES.find((one) => one === vote.trim().toUpperCase())
    if (word === undefined) return refused(`${field}.vote`, `${vote} is not one of ${VOTE_VALUES.join(", ")}`)
    if (!members.has(participantId)) return refused(`${field}.participantId`, `${participantId} does not take part`)
    if (subjects.length === 0) return refused(field, "nothing is on record that could be voted on")
    const about = proposalId === undefined ? (known.size === 1 ? subjects[0] : undefined) : boundName(proposalId)
    if (about === undefined) {
      return refused(`${field}.proposalId`, `say which proposal is voted on: ${subjects.slice(0, 10).join(", ")}`)
    }
    if (!known.has(about)) return refused(`${field}.proposalId`, `${about} is not on record`)
    ballots.push({ participantId, proposalId: about, vote: word })
  }
  return Result.succeed(withBallots(mode, acts, ballots))
}

/** The votes whose change turns a verdict. */
function* votesThatTurn(
  { initiator, participants }: Deliberation,
  { mode, terms }: SessionRules,
  position: Position,
  said: ReadonlyArray<Act>,
  { allowed, outcome }: Verdict
): Sliced<Pick<WhatIf, "pivotal" | "smallestChange" | "basis">> {
  // A changed vote replaces all that its voter has cast, so those that do not count cannot come back.
  const acts = counting(evaluateActs({ mode, initiator, participants, rules: terms.policy.rules }, said))
  const ballots = hasBallots(mode) ? ballotsOf({ acts, participants }) : []
  if (ballots.length > MAX_BALLOTS) return { pivotal: [], smallestChange: [], basis: "bounds" }
  const positive = outcome === "positive"
  const turns = (changes: ReadonlyArray<VoteChange>) => {
    const ballots = changes.map(({ participantId, proposalId, to }) => ({ participantId, proposalId, vote: to }))
    return position.isAllowed(withBallots(mode, acts, ballots), positive) !== allowed
  }
  // Towards the opposite verdict: one value moves the tally most, and ABSTAIN makes a first vote without moving it.
  const towards: VoteValue = positive === allowed ? "REJECT" : "APPROVE"
  const changesTo = (to: VoteValue) =>
    ballots.flatMap(
      ({ participantId, proposalId, vote }): ReadonlyArray<VoteChange> =>
        vote === to ? [] : [{ participantId, proposalId, from: vote, to }]
    )
  const all = [towards, "ABSTAIN" as const].map(changesTo)
  const isExact = ballots.length <= MAX_ENUMERATED && 2 ** ballots.length <= 8 * trialsOf(acts)
  const { weights } = terms.policy.rules.voting
  const found: Array<ReadonlyArray<VoteChange>> = []
  for (const changes of all) {
    found.push(
      isExact
        ? ((yield* smallestSetsInSlices(changes, turns))[0] ?? [])
        : yield* heaviestFirst(changes, new Map(Object.entries(weights)), turns)
    )
  }
  const pivotal: Array<VoteChange> = []
  for (const change of ballots.length > trialsOf(acts) ? [] : all.flat()) {
    yield
    if (turns([change])) pivotal.push(change)
  }
  const smallest = found.filter(({ length }) => length > 0).sort((left, right) => left.length - right.length)[0] ?? []
  return {
    pivotal,
    smallestChange: smallest,
    basis: isExact ? "exact" : "bounds"
  }
}

function* heaviestFirst(
  changes: ReadonlyArray<VoteChange>,
  weights: ReadonlyMap<string, number>,
  turns: (changes: ReadonlyArray<VoteChange>) => boolean
): Sliced<ReadonlyArray<VoteChange>> {
  // A vote that was cast for the other side counts twice when it changes sides.
  const weigh = ({ from, participantId }: VoteChange) =>
    (weights.get(participantId) ?? 1) * (from === null || from === "ABSTAIN" ? 1 : 2)
  const ordered = [...changes].sort((left, right) => weigh(right) - weigh(left))
  let [low, high] = [1, ordered.length + 1]
  while (low < high) {
    yield
    const middle = (low + high) >> 1
    if (middle > ordered.length || turns(ordered.slice(0, middle))) high = middle
    else low = middle + 1
  }
  return low > ordered.length ? [] : ordered.slice(0, low)
}
