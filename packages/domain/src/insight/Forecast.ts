import { isAgreed, refuseCommitment } from "../policies/Evaluation.ts"
import type { ProposalRecord, RuleRefusal, SessionTerms } from "../policies/SessionRecord.ts"
import { runSliced, type Sliced } from "../values/Sliced.ts"
import { counting, type Statement } from "./Act.ts"
import { actionLog } from "./ActionLog.ts"
import { type ActivePolicy, isAllowed, objectionsTo, type PolicySource, type SessionRules } from "./ActivePolicy.ts"
import type { Deliberation } from "./Deliberation.ts"
import { decisionForecast } from "./forecast/DecisionForecast.ts"
import { type ModeForecast, type Outstanding, type Step, stepText } from "./forecast/ModeForecast.ts"
import { acceptancesOf, proposalForecast } from "./forecast/ProposalForecast.ts"
import { quorumForecast } from "./forecast/QuorumForecast.ts"
import { handoffForecast, taskForecast } from "./forecast/WorkForecasts.ts"
import { waitingFor } from "./Waiting.ts"

export type OutcomeName = "positive" | "negative"

/**
 * `met`: a commitment would be accepted now. `certain`: it will be once all outstanding
 * participants have acted, for all of their messages. `impossible`: never again.
 */
export type OutcomeStatus = "met" | "certain" | "possible" | "impossible"

/** A smallest set of acts after which an outcome is allowed. */
export interface Need {
  readonly steps: ReadonlyArray<Step>
  readonly text: string
}

export interface OutcomeForecast {
  readonly outcome: OutcomeName
  /** Where the rules decide each proposal by itself. */
  readonly proposalId?: string
  readonly status: OutcomeStatus
  /** Whether no further act changes the status to possible or impossible, or away from impossible. */
  readonly settled: boolean
  readonly blockers: ReadonlyArray<RuleRefusal>
  readonly needs: ReadonlyArray<Need>
}

/** One act by which a participant alone decides. */
export interface Pivotal {
  readonly participantId: string
  readonly act: string
  readonly value?: string
  readonly outcome: OutcomeName
  readonly becomes: OutcomeStatus
}

export interface Forecast {
  readonly runId: string
  readonly atSeq: number
  readonly atIndex: number
  readonly modeName: string
  readonly policyVersion: string
  readonly policySource: PolicySource
  /** `exact`: every set of open votes was tried. `bounds`: statuses are exact, `needs` may name other voters. */
  readonly basis: "exact" | "bounds"
  readonly outcomes: ReadonlyArray<OutcomeForecast>
  readonly outstanding: ReadonlyArray<Outstanding>
  readonly pivotal: ReadonlyArray<Pivotal>
  readonly note?: string
  /** What the run waits for, in words; absent when it is over or not known. */
  readonly waitingFor?: string
}

export interface ForecastOptions {
  /** Now, in Unix milliseconds, to check the session's deadline; without it only an event ends a session. */
  readonly nowUnixMs?: number
}

/** Proposals that are forecast one by one, the latest ones. */
const MAX_PROPOSALS = 50
/** Kinds of acts whose consequences are tried for `pivotal`; voters of one weight are one kind. */
const MAX_KINDS = 64

/** The outcomes that are still possible for a run's decision, from the record up to any event. */
export const forecast = (run: Deliberation, by: ActivePolicy, options: ForecastOptions = {}): Forecast =>
  runSliced(forecastInSlices(run, by, options))

/** The same in slices. */
export function* forecastInSlices(
  run: Deliberation,
  by: ActivePolicy,
  options: ForecastOptions = {}
): Sliced<Forecast> {
  const { fault, policySource, policyVersion, sessionRules } = by
  const head = {
    runId: run.runId,
    atSeq: run.at?.seq ?? 0,
    atIndex: run.at?.index ?? 0,
    modeName: run.modeName,
    policyVersion,
    policySource
  }
  const closed = closedBy(run, options)
  const nothing = { basis: "exact", outstanding: [], pivotal: [] } as const
  if (closed !== undefined) {
    return { ...head, ...nothing, outcomes: closedOutcomes(run, closed), ...noteOf(run, [closed.text]) }
  }
  if (sessionRules === undefined)
    return {
      ...head,
      ...nothing,
      outcomes: [],
      ...waitingNote(run, by, []),
      ...noteOf(run, [fault ?? "no rules are known"])
    }
  const acts = counting(run.acts)
  const ahead = modeForecast(sessionRules, acts)
  yield
  const outcomes = outcomesOf(sessionRules.terms, ahead)
  yield
  const pivotal = yield* pivotalOf(sessionRules, ahead, acts)
  return {
    ...head,
    basis: ahead.isExact ? "exact" : "bounds",
    outcomes,
    outstanding: ahead.outstanding,
    ...waitingNote(run, by, ahead.outstanding),
    pivotal,
    ...noteOf(run, [
      run.state === "SUSPENDED" && "the session is suspended",
      ahead.ends.length === 0 && "too many votes are open to try them all; only `met` is exact",
      silenceNote(sessionRules, ahead)
    ])
  }
}

/** What is still possible after these acts. */
export const modeForecast = ({ mode, terms }: SessionRules, acts: ReadonlyArray<Statement>): ModeForecast => {
  const record = actionLog(mode, acts, terms.policy.rules)
  switch (record.mode) {
    case "decision":
      return decisionForecast(terms, acts, record)
    case "proposal":
      return proposalForecast(terms, record)
    case "task":
      return taskForecast(terms, acts, record)
    case "handoff":
      return handoffForecast(terms, acts, record)
    case "quorum":
      return quorumForecast(terms, acts, record)
  }
}

const OUTCOMES: ReadonlyArray<OutcomeName> = ["positive", "negative"]

/** Why no further act is possible. */
const closedBy = (run: Deliberation, { nowUnixMs }: ForecastOptions): RuleRefusal | undefined => {
  const { commitment, expiresAtUnixMs: deadline, state } = run
  if (commitment !== undefined) {
    const text = `${commitment.by || "an unnamed participant"} has committed: ${commitment.action}`
    return { rule: "session.commitment", have: commitment.action, need: "no commitment yet", text }
  }
  if (state !== "OPEN" && state !== "SUSPENDED") {
    return { rule: "session.state", have: state, need: "OPEN", text: `the session is ${state}` }
  }
  if (state === "OPEN" && deadline !== undefined && nowUnixMs !== undefined && nowUnixMs > deadline) {
    const text = `the session's deadline passed at ${isoOf(deadline)}`
    return { rule: "session.deadline", have: nowUnixMs, need: deadline, text }
  }
  return undefined
}

/** A number that no date can hold stays a number. */
const isoOf = (unixMs: number): string => (Math.abs(unixMs) <= 8.64e15 ? new Date(unixMs).toISOString() : `${unixMs}`)

const closedOutcomes = ({ commitment }: Deliberation, closed: RuleRefusal): ReadonlyArray<OutcomeForecast> => {
  if (commitment !== undefined && commitment.positive === null) return []
  return OUTCOMES.map((outcome) => {
    const isMet = commitment !== undefined && commitment.positive === (outcome === "positive")
    const status = isMet ? "met" : "impossible"
    return { outcome, status, settled: true, blockers: isMet ? [] : [closed], needs: [] }
  })
}

const waitingNote = (run: Deliberation, by: ActivePolicy, outstanding: ReadonlyArray<Outstanding>) => {
  const waits = waitingFor(run, by, outstanding)
  return waits === undefined ? {} : { waitingFor: waits }
}

const noteOf = (run: Deliberation, more: ReadonlyArray<string | false | undefined>) => {
  const notes = [...more, ...run.notes].filter((note) => typeof note === "string")
  return notes.length === 0 ? {} : { note: notes.join("; ") }
}

const silenceNote = ({ mode, terms }: SessionRules, ahead: ModeForecast) => {
  const timeout = terms.policy.rules.acceptance.implicit_accept_timeout_ms
  const isPending = ahead.outstanding.some(({ acts }) => acts.includes("HandoffAccept"))
  return mode === "handoff" && timeout > 0 && isPending && `silence counts as acceptance after ${timeout} ms`
}

/** The statuses of both outcomes after these acts; the same as those of `forecast`. */
export const outcomeStatuses = (
  sessionRules: SessionRules,
  acts: ReadonlyArray<Statement>
): Readonly<Record<OutcomeName, OutcomeStatus>> => {
  const ahead = modeForecast(sessionRules, acts)
  const { terms } = sessionRules
  return { positive: statusUnder(terms, ahead, true).status, negative: statusUnder(terms, ahead, false).status }
}

const outcomesOf = (terms: SessionTerms, ahead: ModeForecast): ReadonlyArray<OutcomeForecast> => [
  ...OUTCOMES.map((outcome) => outcomeOf(terms, ahead, outcome)),
  ...(ahead.record.mode === "proposal" ? byProposal(terms, ahead.record) : [])
]

const outcomeOf = (terms: SessionTerms, ahead: ModeForecast, outcome: OutcomeName): OutcomeForecast => {
  const positive = outcome === "positive"
  const position = statusUnder(terms, ahead, positive)
  const isOpen = position.status === "possible" || position.status === "certain"
  return {
    outcome,
    ...position,
    blockers: objectionsTo(terms, ahead.record, positive),
    needs: isOpen ? ahead.needs(positive).map(needOf) : []
  }
}

const statusUnder = (terms: SessionTerms, { ends, record }: ModeForecast, positive: boolean) => {
  const allowed = ends.filter((end) => isAllowed(terms, end, positive)).length
  const isCertain = ends.length > 0 && allowed === ends.length
  if (isAllowed(terms, record, positive)) return { status: "met", settled: isCertain } as const
  if (isCertain) return { status: "certain", settled: true } as const
  return allowed > 0 || ends.length === 0
    ? ({ status: "possible", settled: false } as const)
    : ({ status: "impossible", settled: true } as const)
}

const needOf = (steps: ReadonlyArray<Step>): Need => ({ steps, text: steps.map(stepText).join(", then ") })

/** In a negotiation each live proposal has its own chance. */
const byProposal = (terms: SessionTerms, record: ProposalRecord): ReadonlyArray<OutcomeForecast> =>
  [...record.live].slice(-MAX_PROPOSALS).map((offer): OutcomeForecast => {
    const { proposalId } = offer
    const about = { outcome: "positive", proposalId } as const
    const refusals = refuseCommitment(terms, record, true)
    const step = acceptancesOf(terms, record, offer)
    if (refusals.length > 0) return { ...about, status: "impossible", settled: true, blockers: refusals, needs: [] }
    if (isAgreed(terms, { ...record, live: [offer] })) {
      return { ...about, status: "met", settled: false, blockers: [], needs: [] }
    }
    const { criterion } = terms.policy.rules.acceptance
    const have = step === undefined ? "no participant can accept" : `${step.of.join(", ")} missing`
    const text = `${proposalId} is not accepted as ${criterion} requires`
    const blockers = [{ rule: "acceptance.criterion", have, need: criterion, text }]
    return step === undefined
      ? { ...about, status: "impossible", settled: true, blockers, needs: [] }
      : { ...about, status: "possible", settled: false, blockers, needs: [needOf([step])] }
  })

/** Every single act after which an outcome is newly met, certain or impossible; each kind of act is a slice. */
function* pivotalOf(
  sessionRules: SessionRules,
  ahead: ModeForecast,
  acts: ReadonlyArray<Statement>
): Sliced<ReadonlyArray<Pivotal>> {
  if (ahead.ends.length === 0) return []
  const { terms } = sessionRules
  const now = OUTCOMES.map((outcome) => statusUnder(terms, ahead, outcome === "positive").status)
  const consequences = new Map<string, ReadonlyArray<Pick<Pivotal, "outcome" | "becomes">>>()
  const pivotal: Array<Pivotal> = []
  for (const { kind, statement } of ahead.moves) {
    if (!consequences.has(kind) && consequences.size >= MAX_KINDS) continue
    const found = consequences.get(kind) ?? consequencesOf(sessionRules, now, [...acts, statement])
    consequences.set(kind, found)
    yield
    const value = statement.vote ?? statement.severity ?? statement.recommendation
    for (const consequence of found) {
      pivotal.push({
        participantId: statement.by,
        act: statement.type,
        ...(value !== undefined && { value }),
        ...consequence
      })
    }
  }
  return pivotal
}

const consequencesOf = (
  sessionRules: SessionRules,
  now: ReadonlyArray<OutcomeStatus>,
  acts: ReadonlyArray<Statement>
) => {
  const next = modeForecast(sessionRules, acts)
  return OUTCOMES.flatMap((outcome, at) => {
    const becomes = statusUnder(sessionRules.terms, next, outcome === "positive").status
    const isNew = becomes !== now[at] && becomes !== "possible" && !(now[at] === "met" && becomes === "certain")
    return isNew ? [{ outcome, becomes }] : []
  })
}
