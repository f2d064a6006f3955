import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { toOneLine } from "../../values/Field.ts"
import { AnswerAct, type AnswerContent } from "../AnswerAct.ts"
import { MAX_REASON } from "../AnswerCheck.ts"
import type { RemotePart, RemoteReply } from "./RemoteTask.ts"

/** Why a turn has failed. Each is a word of ours, without a text of the agent. */
export const TurnFailure = Schema.Literals([
  "unreadable",
  "stale",
  "forbidden-act",
  "late",
  "input-required",
  "auth-required",
  "rejected",
  "failed",
  "canceled",
  "card-changed",
  "refused",
  "too-large"
])
export type TurnFailure = typeof TurnFailure.Type

/** The messages of a turn: the first one, the one that an agent requires, and the one after an unreadable answer. */
export const TurnPhase = Schema.Literals(["first", "input", "repair"])
export type TurnPhase = typeof TurnPhase.Type

/** What a turn does next. */
export type TurnStep =
  | { readonly _tag: "wait" }
  | { readonly _tag: "answer"; readonly content: AnswerContent }
  | { readonly _tag: "follow-up"; readonly phase: "input" | "repair" }
  | { readonly _tag: "failed"; readonly why: TurnFailure; readonly detail: string }

/** What an answer of an agent is checked against. */
export interface TurnTerms {
  /** The phases whose message is on its way or has arrived. */
  readonly phase: TurnPhase
  readonly proposalHash: string
  readonly allowedActs: ReadonlyArray<AnswerAct>
}

const WAIT: TurnStep = { _tag: "wait" }
const failed = (why: TurnFailure, detail: string): TurnStep => ({ _tag: "failed", why, detail })

/** What a turn does after a reply of the agent. Each phase has one follow-up at most, so a turn ends. */
export const turnStep = ({ message, task }: RemoteReply, terms: TurnTerms): TurnStep => {
  if (message !== undefined) return answerStep(message.parts ?? [], terms)
  switch (task?.status?.state) {
    case "TASK_STATE_COMPLETED": {
      const artifacts = (task.artifacts ?? []).flatMap(({ parts = [] }) => parts)
      return answerStep([...(task.status.message?.parts ?? []), ...artifacts], terms)
    }
    case "TASK_STATE_INPUT_REQUIRED":
      return terms.phase === "first"
        ? { _tag: "follow-up", phase: "input" }
        : failed("input-required", "the agent requires more input after one follow-up")
    case "TASK_STATE_AUTH_REQUIRED":
      return failed("auth-required", "the state of the task is AUTH_REQUIRED")
    case "TASK_STATE_REJECTED":
      return failed("rejected", "the state of the task is REJECTED")
    case "TASK_STATE_FAILED":
      return failed("failed", "the state of the task is FAILED")
    case "TASK_STATE_CANCELED":
      return failed("canceled", "the state of the task is CANCELED")
    default:
      return WAIT
  }
}

/** Only what decides is read strictly: a text that does not fit loses no answer. */
const Stated = Schema.Struct({
  act: Schema.String,
  proposalHash: Schema.String,
  reason: Schema.optionalKey(Schema.String),
  confidence: Schema.optionalKey(Schema.Finite),
  recommendation: Schema.optionalKey(Schema.Literals(["APPROVE", "REVIEW", "BLOCK", "REJECT"])),
  severity: Schema.optionalKey(Schema.Literals(["low", "medium", "high", "critical"]))
})
const readStated = Schema.decodeUnknownOption(Stated)
const isAct = Schema.is(AnswerAct)

/** The last data part that is an answer counts. */
const answerStep = (parts: ReadonlyArray<RemotePart>, terms: TurnTerms): TurnStep => {
  const stated = parts.flatMap(({ data }) => Option.toArray(readStated(data))).at(-1)
  if (stated === undefined) {
    return terms.phase === "repair"
      ? failed("unreadable", "the answer has no data part with act and proposalHash, after one repair")
      : { _tag: "follow-up", phase: "repair" }
  }
  const { act, confidence, proposalHash, reason = "", recommendation, severity } = stated
  if (proposalHash !== terms.proposalHash) return failed("stale", "the answer has the hash of another proposal")
  if (!isAct(act) || !terms.allowedActs.includes(act)) {
    return failed("forbidden-act", `the act of the answer is not one of: ${terms.allowedActs.join(", ")}`)
  }
  if (confidence !== undefined && (confidence < 0 || confidence > 1)) {
    return failed("unreadable", "the confidence of the answer is not a number from 0 to 1")
  }
  if (act === "evaluate" && recommendation === undefined) {
    return failed("unreadable", "the answer is an evaluation without a recommendation")
  }
  return {
    _tag: "answer",
    content: {
      act,
      reason: storable(reason),
      ...(confidence !== undefined && { confidence }),
      ...(act === "evaluate" && { recommendation }),
      ...(act === "object" && severity !== undefined && { severity })
    }
  }
}

/** The text of an agent within its bound. PostgreSQL stores neither U+0000 nor half of a surrogate pair. */
const storable = (text: string): string => text.slice(0, MAX_REASON).toWellFormed().replaceAll("\0", "\ufffd")

/** Characters of a detail in a record. */
const MAX_DETAIL = 300

/** A failure in one line. */
export const turnFailureText = (why: TurnFailure, detail: string): string =>
  toOneLine(detail === "" ? why : `${why}: ${detail}`, MAX_DETAIL)
