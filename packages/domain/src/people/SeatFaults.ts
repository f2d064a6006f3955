import type { Statement } from "../insight/Act.ts"
import { actionLog } from "../insight/ActionLog.ts"
import { isAllowed } from "../insight/ActivePolicy.ts"
import type { BoundPolicy } from "../policies/Policy.ts"
import { PINNED_RELEASE } from "../policies/Release.ts"
import { assignableNames } from "./Person.ts"
import {
  ACTS_OF_MODE,
  type PeopleFault,
  type PeopleText,
  type SeatMode,
  type SeatRules,
  seatMode,
  seatRules
} from "./SeatRules.ts"
import { longestSuspendMs } from "./suspend/Suspension.ts"

/** What people sign in with at a service: its keys, an OIDC issuer, or nothing. */
export type SignInKind = "key" | "oidc" | "none"

/** A person of the pack's directory. */
export interface DirectoryPerson {
  readonly id: string
  readonly groups: ReadonlyArray<string>
  /** Whether the person has no sign-in, and answers by links. */
  readonly hasLink: boolean
}

/** What `people:` is checked against. */
export interface PeopleContext {
  readonly modeName: string
  readonly ttlMs: number
  /** Undefined: the default of the runtime. */
  readonly maxSuspendMs: number | undefined
  readonly initiator: string | undefined
  readonly participants: ReadonlyArray<string>
  /** Participants whose agent is a person; undefined where the catalog is not known. */
  readonly seats: ReadonlyArray<string> | undefined
  /** Undefined where the policy is not known. */
  readonly policy: BoundPolicy | undefined
  /** The groups that the directory defines; undefined where groups come from tokens. */
  readonly groups: ReadonlySet<string> | undefined
  /** The people of the directory; undefined where there is none. */
  readonly persons?: ReadonlyArray<DirectoryPerson> | undefined
  /** What people sign in with; undefined where it is not known. */
  readonly signIn?: SignInKind | undefined
}

/** Why a service cannot prove when a person has signed in; undefined for one that can. */
const LACKS: Readonly<Record<SignInKind, string | undefined>> = {
  key: "a key has no time of sign-in",
  none: "set OIDC_ISSUER and OIDC_CLIENT_ID",
  oidc: undefined
}

/** What is wrong with the seats of a launch: errors are refused, warnings are shown. Pure. */
export const peopleFaults = (people: PeopleText, context: PeopleContext): ReadonlyArray<PeopleFault> => {
  const { participants, seats } = context
  const missing = (seats ?? []).filter((seat) => !Object.hasOwn(people, seat))
  return [
    ...missing.map((seat): PeopleFault => {
      const message = `the agent of participant "${seat}" is a person, and people has no entry for it: name who may answer`
      return { level: "error", at: [seat], message }
    }),
    ...Object.entries(people).flatMap(([seat, text]) => {
      if (!participants.includes(seat)) {
        const message = `people.${seat} is not a participant; name one of: ${participants.join(", ")}`
        return [{ level: "error", at: [seat], message } as const]
      }
      if (seats !== undefined && !seats.includes(seat)) {
        const message = `the agent of participant "${seat}" is not a person: give it a profile with framework person`
        return [{ level: "error", at: [seat], message } as const]
      }
      return seatFaults(seat, text, context)
    }),
    ...mixedWaits(people)
  ]
}

/** A seat that suspends the session beside one that does not: the time goes on while the other one has a question. */
const mixedWaits = (people: PeopleText): ReadonlyArray<PeopleFault> => {
  const entries = Object.entries(people)
  const open = entries.filter(([, { wait }]) => wait !== "suspend").map(([seat]) => seat)
  return entries.flatMap(([seat, { wait }]): ReadonlyArray<PeopleFault> => {
    if (wait !== "suspend" || open.length === 0) return []
    const message = `no suspension while ${open.join(", ")} has an open question: write wait: suspend for each seat`
    return [{ level: "warning", at: [seat, "wait"], message }]
  })
}

const seatFaults = (seat: string, text: PeopleText[string], context: PeopleContext): ReadonlyArray<PeopleFault> => {
  const mode = seatMode(context.modeName)
  if (mode === undefined) {
    const message = `a person can hold a seat in a decision, a quorum or a handoff, not in ${context.modeName}`
    return [{ level: "error", at: [seat], message }]
  }
  const rules = seatRules(mode, text)
  const faults: Array<PeopleFault> = []
  const add = (level: PeopleFault["level"], key: string | undefined, message: string) =>
    faults.push({ level, at: key === undefined ? [seat] : [seat, key], message })
  const refuse = (key: string | undefined, message: string) => add("error", key, message)
  const warn = (key: string | undefined, message: string) => add("warning", key, message)
  if (seat === context.initiator) refuse(undefined, `"${seat}" opens the session, which no person does: name an agent`)
  timeFaults(rules, context, refuse, warn)
  actFaults(mode, rules, refuse)
  for (const group of unknownGroups(rules.assign, context.groups)) {
    refuse("assign", `no directory defines the group "${group}"`)
  }
  escalationFaults(rules, context, refuse, warn)
  if (rules.proof !== "session" && LACKS[context.signIn ?? "oidc"] !== undefined) {
    refuse("proof", `proof ${rules.proof} needs a sign-in at an OIDC issuer: ${LACKS[context.signIn ?? "oidc"]}`)
  }
  linkFaults(rules, context.persons, refuse, warn)
  if (context.policy !== undefined) policyFaults(seat, mode, rules, context.policy, context, refuse, warn)
  if (rules.ask === "pivotal" && rules.reveal === "after") {
    warn("ask", "a question comes only while it counts: its arrival shows the person that the votes are close")
  }
  return faults
}

type Add = (key: string | undefined, message: string) => void

const timeFaults = (rules: SeatRules, { maxSuspendMs, ttlMs }: PeopleContext, refuse: Add, warn: Add): void => {
  const { deadlineMs, onDeadline, wait } = rules
  if (deadlineMs !== undefined && wait === "open" && deadlineMs > ttlMs) {
    refuse(
      "deadline",
      `the deadline is after the end of the session (ttlMs ${ttlMs}): shorten it, or write wait: suspend`
    )
  }
  const longest = longestSuspendMs(maxSuspendMs)
  if (deadlineMs !== undefined && wait === "suspend" && longest < deadlineMs) {
    refuse("deadline", `the deadline is longer than a suspension can be (${longest} ms): raise maxSuspendMs`)
  }
  if (deadlineMs === undefined && onDeadline !== "nothing") {
    refuse("onDeadline", `onDeadline ${onDeadline} needs a deadline`)
  } else if (deadlineMs === ttlMs && wait === "open" && onDeadline !== "nothing") {
    warn("deadline", "the session ends at the deadline: onDeadline may come too late, shorten the deadline")
  }
}

/** Each step adds a person or a group that is known, while the item can still be open. */
const escalationFaults = (rules: SeatRules, { groups, ttlMs }: PeopleContext, refuse: Add, warn: Add): void => {
  const { assign, deadlineMs, escalate, wait } = rules
  // A suspended session does not come to its end.
  const endMs = deadlineMs ?? (wait === "open" ? ttlMs : Number.POSITIVE_INFINITY)
  const end = deadlineMs === undefined ? "the end of the session" : "the deadline"
  for (const [index, { afterMs, to }] of escalate.entries()) {
    if (afterMs >= endMs) {
      refuse("escalate", `step ${index + 1}, after ${afterMs} ms, is not before ${end} (${endMs} ms)`)
    }
    for (const group of unknownGroups(to, groups)) {
      refuse("escalate", `step ${index + 1}: no directory defines the group "${group}"`)
    }
    const earlier = escalate.filter((one, at) => one.afterMs < afterMs || (one.afterMs === afterMs && at < index))
    const before = new Set([...assign, ...earlier.flatMap((step) => step.to)])
    if (to.every((name) => before.has(name))) {
      warn("escalate", `step ${index + 1} adds no person and no group: ${to.join(", ")} may answer before it`)
    }
  }
}

/** A link proves no sign-in: a seat that needs a proof of one takes no answer of a person who has a link alone. */
const linkFaults = (
  { assign, escalate, proof }: SeatRules,
  persons: ReadonlyArray<DirectoryPerson> = [],
  refuse: Add,
  warn: Add
): void => {
  if (proof === "session") return
  const names = new Set([...assign, ...escalate.flatMap(({ to }) => to)])
  for (const name of names) {
    const linked = persons
      .filter((person) => person.hasLink && assignableNames(person).includes(name))
      .map(({ id }) => id)
      .join(", ")
    if (linked === "") continue
    if (name === `person:${linked}`)
      refuse("proof", `${linked} answers by personal links, which proof ${proof} refuses`)
    // Tokens can have further members, who sign in.
    else warn("proof", `${name}: ${linked} can answer by personal links alone, which proof ${proof} refuses`)
  }
}

export const actFaults = (mode: SeatMode, rules: SeatRules, refuse: Add): void => {
  const { acts, onDeadline, when } = rules
  const known = ACTS_OF_MODE[mode]
  for (const act of acts) {
    if (!known.includes(act)) refuse("acts", `a ${mode} has no act "${act}"; name some of: ${known.join(", ")}`)
  }
  if (mode !== "decision" && when === "evaluated") refuse("when", `a ${mode} has no evaluations: write when: proposed`)
  if (mode === "handoff" && when !== "proposed") refuse("when", "a handoff has no other voters: write when: proposed")
  const early = acts.filter((act) => act === "evaluate" || act === "object")
  if (when === "others-voted" && early.length > 0) {
    refuse("when", `after the first vote a runtime takes no ${early.join(" and no ")}: write when: evaluated`)
  }
  if (mode === "handoff" && onDeadline === "abstain") {
    refuse("onDeadline", "no participant of a handoff can abstain: write nothing or reject, which declines it")
  }
}

const unknownGroups = (names: ReadonlyArray<string>, groups: ReadonlySet<string> | undefined) =>
  groups === undefined
    ? []
    : names.flatMap((name) => {
        const group = name.startsWith("group:") ? name.slice("group:".length) : undefined
        // A placeholder becomes a group at the launch, which checks it again.
        return group === undefined || group.includes("{{") || groups.has(group) ? [] : [group]
      })

const policyFaults = (
  seat: string,
  mode: SeatMode,
  { onDeadline }: SeatRules,
  policy: BoundPolicy,
  { initiator = "", participants }: PeopleContext,
  refuse: Add,
  warn: Add
): void => {
  const { acceptance, commitment } = policy.rules
  if (mode === "handoff" && acceptance.implicit_accept_timeout_ms > 0) {
    const timeout = acceptance.implicit_accept_timeout_ms
    refuse(undefined, `under ${policy.policyId} silence becomes the person's acceptance after ${timeout} ms`)
  }
  if (commitment.authority === "any_participant") {
    warn(undefined, `under ${policy.policyId} any participant may commit: then the seat can cancel and suspend as well`)
  }
  if (mode === "decision" && commitment.require_vote_quorum && onDeadline === "abstain") {
    warn(
      "onDeadline",
      `under ${policy.policyId} an abstention counts as a voter of the quorum, also one by the deadline`
    )
  }
  const others = participants.filter((one) => one !== seat)
  const terms = { initiator, participants, policy, release: PINNED_RELEASE }
  if (mode !== "handoff" && isAllowed(terms, actionLog(mode, approvedBy(mode, others), policy.rules), true)) {
    warn(undefined, `${policy.policyId} can be met without "${seat}": the votes of the others are enough`)
  }
}

/** The acts after which a session cannot be more in favour, all of these participants in favour. */
const approvedBy = (mode: SeatMode, participants: ReadonlyArray<string>): ReadonlyArray<Statement> =>
  mode === "quorum"
    ? [
        { by: "", type: "ApprovalRequest", proposalId: "p", requiredApprovals: participants.length + 1 },
        ...participants.map((by) => ({ by, type: "Approve", proposalId: "p" }))
      ]
    : [
        { by: "", type: "Proposal", proposalId: "p" },
        ...participants.flatMap((by) => [
          { by, type: "Evaluation", proposalId: "p", recommendation: "APPROVE", confidence: 1 },
          { by, type: "Vote", proposalId: "p", vote: "APPROVE" }
        ])
      ]
