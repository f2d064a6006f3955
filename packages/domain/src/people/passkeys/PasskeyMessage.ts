import { textAt } from "../../values/JsonReader.ts"
import type { JsonObject } from "../../values/PayloadDecoder.ts"
import { type AnswerAct, reasonWithLine } from "../AnswerAct.ts"
import type { PasskeyVerdict, ProvedAnswer } from "./PasskeyProof.ts"

/** The message of an answer as the events of its run have it. */
export interface SignedMessage {
  readonly messageType: string
  readonly payload: JsonObject
}

const TYPES: Readonly<Record<AnswerAct, string>> = {
  approve: "Approve",
  reject: "Reject",
  abstain: "Abstain",
  evaluate: "Evaluation",
  object: "Objection",
  accept: "HandoffAccept",
  decline: "HandoffDecline"
}

/** Whether the message of the session says what the person has signed with a passkey. */
export const checkSignedMessage = (
  answer: Pick<ProvedAnswer, "act" | "item" | "proposalHash" | "recommendation" | "severity"> & {
    readonly person?: string
  },
  reason: string,
  { messageType, payload }: SignedMessage
): PasskeyVerdict => {
  const { act, item, person, proposalHash, recommendation, severity = "medium" } = answer
  const isSameAct = messageType === "Vote" ? textAt(payload, "vote") === act.toUpperCase() : messageType === TYPES[act]
  const isSameValue =
    textAt(payload, "recommendation") === recommendation &&
    (act !== "object" || textAt(payload, "severity") === severity)
  if (!isSameAct || !isSameValue) return { _tag: "invalid", why: "its message in the session is another act" }
  const said = payload["reason"]
  if (said === "") return { _tag: "erased" }
  return said === reasonWithLine(reason, { person, item, proposalHash })
    ? { _tag: "valid", reason }
    : { _tag: "invalid", why: "its message in the session has another reason" }
}
