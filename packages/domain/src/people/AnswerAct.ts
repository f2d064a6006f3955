import * as Schema from "effect/Schema"
import { payloadTypeName } from "../frames/PayloadTypes.ts"
import type { SeatAct, SeatMode } from "./SeatRules.ts"

/** What a person answers with. Approving and rejecting are the votes of a decision and the ballots of a quorum. */
export const AnswerAct = Schema.Literals(["approve", "reject", "abstain", "evaluate", "object", "accept", "decline"])
export type AnswerAct = typeof AnswerAct.Type

/** The content of an answer: which act, its values, and the reason in the person's words. */
export interface AnswerContent {
  readonly act: AnswerAct
  readonly recommendation?: "APPROVE" | "REVIEW" | "BLOCK" | "REJECT" | undefined
  readonly confidence?: number | undefined
  readonly severity?: "low" | "medium" | "high" | "critical" | undefined
  readonly reason: string
}

/** Whether a seat with these acts may answer so. */
export const isAllowedAct = (mode: SeatMode, acts: ReadonlyArray<SeatAct>, act: AnswerAct): boolean =>
  acts.includes(mode === "decision" && (act === "approve" || act === "reject") ? "vote" : act)

/** The answers that a seat with these acts can give, in the order of a page. */
export const answersOf = (mode: SeatMode, acts: ReadonlyArray<SeatAct>): ReadonlyArray<AnswerAct> =>
  AnswerAct.literals.filter((act) => isAllowedAct(mode, acts, act))

/** Whether an act is the last word of its seat on a subject; an evaluation and an objection are not. */
export const isLastWord = (act: AnswerAct): boolean => act !== "evaluate" && act !== "object"

/** A message of the session, with its payload in the names of the protocol's JSON form. */
export interface ActMessage {
  readonly messageType: string
  readonly payloadType: string
  readonly payload: Readonly<Record<string, string | number>>
}

const VOTES: Readonly<Partial<Record<AnswerAct, string>>> = { approve: "APPROVE", reject: "REJECT", abstain: "ABSTAIN" }
const BALLOTS: Readonly<Partial<Record<AnswerAct, string>>> = {
  approve: "Approve",
  reject: "Reject",
  abstain: "Abstain"
}
const HANDOFFS: Readonly<Partial<Record<AnswerAct, string>>> = { accept: "HandoffAccept", decline: "HandoffDecline" }

/**
 * The message of an answer about a subject; undefined for an act that the mode does not have. A vote has no confidence
 * on the wire: it is in the artifact alone.
 */
export const actMessage = (
  modeName: string,
  mode: SeatMode,
  subjectId: string,
  content: AnswerContent,
  reason: string
): ActMessage | undefined => {
  const message = (messageType: string | undefined, payload: ActMessage["payload"]): ActMessage | undefined => {
    const payloadType = messageType === undefined ? undefined : payloadTypeName(modeName, messageType)
    return messageType === undefined || payloadType === undefined ? undefined : { messageType, payloadType, payload }
  }
  switch (mode) {
    case "quorum":
      return message(BALLOTS[content.act], { requestId: subjectId, reason })
    case "handoff":
      return message(HANDOFFS[content.act], { handoffId: subjectId, reason })
    case "decision": {
      const about = { proposalId: subjectId, reason }
      const { act, confidence, recommendation, severity } = content
      if (act === "evaluate") {
        return recommendation === undefined
          ? undefined
          : message("Evaluation", { ...about, recommendation, ...(confidence !== undefined && { confidence }) })
      }
      if (act === "object") return message("Objection", { ...about, severity: severity ?? "medium" })
      const vote = VOTES[act]
      return vote === undefined ? undefined : message("Vote", { ...about, vote })
    }
  }
}

/** Hexadecimal signs of a proposal's hash in the line of a reason. */
const SHOWN_SIGNS = 16

/**
 * The reason as the session has it: the text of the person or agent, and a line that names who, item and hash. Any
 * agent can write such a line, so readers believe the artifact alone.
 */
export const reasonWithLine = (
  text: string,
  of: {
    readonly person: string | undefined
    /** The agent that has acted by itself. */
    readonly agent?: string | undefined
    readonly item: string
    readonly proposalHash: string
  }
): string => {
  const other = of.agent === undefined ? "deadline" : `agent ${plainId(of.agent)}`
  const by = of.person === undefined ? other : `person ${plainId(of.person)}`
  const line = `[${by} item ${plainId(of.item)} sha256:${of.proposalHash.slice(0, SHOWN_SIGNS)}]`
  return text === "" ? line : `${text}\n${line}`
}

/** The text of a person in a reason of the session: without the line that names person, item and hash. */
export const withoutLine = (reason: string): string => reason.replace(/(?:^|\n)\[[^\n\]]+ sha256:[0-9a-f]{16}\]$/, "")

/** The reason of an act by the deadline. */
export const noAnswerBy = (deadline: string): string => `no answer by ${deadline}`

/** An id that cannot end the line, or begin another member of it. */
const plainId = (id: string): string =>
  encodeURIComponent(id.toWellFormed()).replaceAll("%40", "@").replaceAll("%3A", ":").replaceAll("%7C", "|")

/** The act of a deadline; undefined where it makes none. */
export const deadlineAct = (mode: SeatMode, onDeadline: "nothing" | "abstain" | "reject"): AnswerAct | undefined => {
  if (onDeadline === "nothing") return undefined
  return mode === "handoff" ? (onDeadline === "reject" ? "decline" : undefined) : onDeadline
}
