import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { BoundPolicy } from "../../policies/Policy.ts"
import { actFaults, type PeopleContext } from "../SeatFaults.ts"
import { faultsIn, type PeopleFault, type SeatMode, SeatText, seatMode, seatRules } from "../SeatRules.ts"

const optional = Schema.optionalKey
const { acts, ask, deadline, stale, when } = SeatText.fields

/** One entry of `a2a:` as an author writes it: when an agent has a turn, and what a failed one leaves. */
export const TurnText = Schema.Struct({
  ask,
  when,
  acts,
  deadline,
  stale,
  onFailure: optional(Schema.Literals(["nothing", "abstain"]))
})
export type TurnText = typeof TurnText.Type

/** The keys of an entry, for checks of unknown ones. */
export const TURN_KEYS: ReadonlyArray<string> = Object.keys(TurnText.fields)

/** `a2a:` of a launch, by participant id. */
export const TurnsText = Schema.Record(Schema.String, TurnText).annotate({
  identifier: "TurnsText",
  description: "The rules of the turns of participants that speak A2A, by participant id",
  parseOptions: { onExcessProperty: "error" }
})
export type TurnsText = typeof TurnsText.Type

const decode = Schema.decodeUnknownResult(TurnsText, { errors: "all", onExcessProperty: "error" })

/** Reads `a2a:`; the failures are all of its faults, each with its field. */
export const readTurns = (value: unknown): Result.Result<TurnsText, ReadonlyArray<PeopleFault>> =>
  Result.mapError(decode(value), faultsIn("a2a"))

/** The rules of a turn as those of a seat: no person may answer it, and its deadline leaves what a failure leaves. */
export const turnSeat = ({ onFailure = "nothing", ...text }: TurnText): SeatText => ({
  ...text,
  assign: [],
  distinctFrom: [],
  reason: "optional",
  onDeadline: onFailure
})

/** What `a2a:` is checked against. */
export type TurnContext = Pick<PeopleContext, "modeName" | "ttlMs" | "initiator" | "participants"> & {
  /** Participants whose agent speaks A2A; undefined where the catalog is not known. */
  readonly agents: ReadonlyArray<string> | undefined
  readonly policy: BoundPolicy | undefined
}

/** What is wrong with the turns of a launch: errors are refused, warnings are shown. Participants need no entry. */
export const turnFaults = (turns: TurnsText, context: TurnContext): ReadonlyArray<PeopleFault> => {
  const { agents, participants } = context
  const entries = new Map(Object.entries(turns))
  for (const id of agents ?? []) if (!entries.has(id)) entries.set(id, {})
  return [...entries].flatMap(([id, text]): ReadonlyArray<PeopleFault> => {
    if (!participants.includes(id)) {
      const message = `a2a.${id} is not a participant; name one of: ${participants.join(", ")}`
      return [{ level: "error", at: [id], message }]
    }
    if (agents !== undefined && !agents.includes(id)) {
      const message = `the agent of participant "${id}" does not speak A2A: give it a profile with framework a2a`
      return [{ level: "error", at: [id], message }]
    }
    const mode = seatMode(context.modeName)
    if (mode === undefined) {
      const message = `an agent that speaks A2A acts in a decision, a quorum or a handoff, not in ${context.modeName}`
      return [{ level: "error", at: [id], message }]
    }
    return faultsOf(id, mode, text, context)
  })
}

const faultsOf = (id: string, mode: SeatMode, text: TurnText, { initiator, policy, ttlMs }: TurnContext) => {
  const faults: Array<PeopleFault> = []
  const add = (level: PeopleFault["level"], key: string | undefined, message: string) =>
    faults.push({ level, at: key === undefined ? [id] : [id, key], message })
  const rules = { ...seatRules(mode, turnSeat(text)), onDeadline: "nothing" } as const
  if (id === initiator) {
    add("error", undefined, `"${id}" opens the session, which an agent that speaks A2A does not: name another agent`)
  }
  if (rules.deadlineMs !== undefined && rules.deadlineMs > ttlMs) {
    add("error", "deadline", `the deadline is after the end of the session (ttlMs ${ttlMs}): shorten it`)
  }
  actFaults(mode, rules, (key, message) => add("error", key, message))
  if (text.onFailure === "abstain") {
    if (mode === "handoff") add("error", "onFailure", "no participant of a handoff can abstain: write nothing")
    const commitment = policy?.rules.commitment
    if (mode === "decision" && commitment?.require_vote_quorum === true) {
      const message = `under ${policy?.policyId} an abstention counts as a voter of the quorum, also one by a failed turn`
      add("warning", "onFailure", message)
    }
  }
  return faults
}
