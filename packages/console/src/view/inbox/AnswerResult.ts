import { AnswerAct } from "@runplane/domain"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { dateTime } from "../format/Format.ts"
import { DONE } from "./InboxWords.ts"

/** A refused answer, as the service says it. */
export interface Refusal {
  readonly code: string
  readonly status: number
  readonly messages: ReadonlyArray<string>
  readonly metadata: unknown
}

/** What a refused answer means for the person. */
export interface Refused {
  readonly title: string
  readonly lines: ReadonlyArray<string>
  /** The item to answer instead. */
  readonly newItem?: string
  /** Another sign-in makes the answer possible; `fresh`: at the issuer, although the person is signed in. */
  readonly needsSignIn?: "any" | "fresh"
  /** Whether the draft has no more use. */
  readonly isOver: boolean
}

const Metadata = Schema.Struct({
  by: Schema.optionalKey(Schema.String),
  at: Schema.optionalKey(Schema.String),
  act: Schema.optionalKey(AnswerAct),
  newItem: Schema.optionalKey(Schema.String)
})
const readMetadata = Schema.decodeUnknownOption(Metadata)

/** A message of the service as a sentence. */
export const sentence = (text: string): string => {
  const begun = `${text.charAt(0).toUpperCase()}${text.slice(1)}`
  return /[.!?]$/.test(begun) ? begun : `${begun}.`
}

/** The same for a return or a question, with its name and its past. */
const refusedOther =
  (name: string, done: string) =>
  (refusal: Refusal): Refused => {
    const { code, messages, status } = refusal
    const lines = messages.map(sentence)
    if (status === 401) return refusedAnswer(refusal)
    if (status === 403) return { title: `Refused: the question was not ${done}`, lines, isOver: false }
    if (status === 410) return { title: `Too late: the question was not ${done}`, lines, isOver: true }
    if (status === 0 || status >= 500) {
      return { title: `It is not known whether the ${name} arrived`, lines, isOver: false }
    }
    return code === "ITEM_NOT_FOUND"
      ? { title: "The question is gone", lines, isOver: true }
      : { title: `The ${name} was refused`, lines, isOver: false }
  }

export const refusedReturn = refusedOther("return", "returned")
export const refusedQuestion = refusedOther("question", "sent")

export const refusedAnswer = ({ code, messages, metadata, status }: Refusal): Refused => {
  const { act, at, by, newItem } = Option.getOrElse(readMetadata(metadata ?? {}), (): typeof Metadata.Type => ({}))
  const lines = messages.map(sentence)
  const next = newItem === undefined ? {} : { newItem }
  if (status === 401) {
    return { title: "You are not signed in any more", lines: ["Your text is kept."], needsSignIn: "any", isOver: false }
  }
  if (code === "SIGN_IN_NOT_FRESH") {
    const kept = "Your text is kept: sign in again, and send it then."
    return {
      title: "Your sign-in is too old: your answer was not sent",
      lines: [kept],
      needsSignIn: "fresh",
      isOver: false
    }
  }
  if (code === "PASSKEY_MISSING") {
    const way = "Return it to the others. A passkey that you enrol now counts for later questions."
    return { title: "No passkey of yours counts here: your answer was not sent", lines: [...lines, way], isOver: false }
  }
  if (code === "PASSKEY_REFUSED") {
    return { title: "Your passkey was refused: your answer was not sent", lines, isOver: false }
  }
  if (code === "LINK_CODE_WRONG" || code === "LINK_CODE_MISSING") {
    return { title: "The code does not count: your answer was not sent", lines, isOver: false }
  }
  if (status === 403) return { title: "Refused: your answer was not sent", lines, isOver: false }
  if (code === "ITEM_ANSWERED") {
    const when = at === undefined ? "" : ` at ${dateTime(Date.parse(at))}`
    const how = act === undefined ? "has answered" : DONE[act]
    const line = by === undefined ? `No answer came by the deadline; its act was made${when}.` : `${by} ${how}${when}.`
    return { title: "The question is already answered", lines: [line], ...next, isOver: true }
  }
  if (code === "ITEM_STALE") {
    return { title: "The question has changed: your answer was not sent", lines, ...next, isOver: false }
  }
  if (code === "LINK_OVER") return { title: "This link takes no answer any more", lines, isOver: true }
  if (status === 410) return { title: "Too late: your answer was not sent", lines, ...next, isOver: true }
  if (status === 404) return { title: "The question is gone", lines, isOver: true }
  if (status === 429) return { title: "Too many answers", lines: [...lines, "Try again in a minute."], isOver: false }
  if (code === "SESSION_UNREAD") {
    return { title: "Not now: your answer was not sent", lines: [...lines, "Try again in a moment."], isOver: false }
  }
  // No answer of the service or of its database, or one of a proxy: the answer may be stored.
  if (status === 0 || status >= 500) {
    const again = "The answer may be stored. Send the same again: it counts once."
    return { title: "It is not known whether your answer arrived", lines: [...lines, again], isOver: false }
  }
  return { title: "Your answer was refused", lines, isOver: false }
}
