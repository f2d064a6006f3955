import { launcherError } from "@runplane/api"
import { type ItemState, type Staleness, whyNotText } from "@runplane/domain"
import type { AnswerRefused } from "../../people/Answers.ts"
import type { PasskeyRefused } from "../../people/passkeys/WebAuthn.ts"
import type { QuestionRefused } from "../../people/questions/Questions.ts"
import type { ReturnRefused } from "../../people/Returns.ts"
import { mayNotText } from "./ItemAnswers.ts"

export const itemNotFound = (id: string) => launcherError("ITEM_NOT_FOUND", `no item has the id ${id}`)

export const personForbidden = (why: string) => launcherError("FORBIDDEN", `you may not answer: ${why}`)

const NOT_FRESH = launcherError(
  "SIGN_IN_NOT_FRESH",
  "a sign-in at the issuer of the last five minutes is required: sign in again in the page"
)

const NOT_OPEN = launcherError("ITEM_NOT_OPEN", "the item is not open yet: it waits for the other participants")

/** Why a passkey is not enrolled, or proves nothing. */
export const passkeyError = (why: PasskeyRefused["why"]) => {
  switch (why._tag) {
    case "not-fresh":
      return NOT_FRESH
    case "too-many":
      return launcherError("PASSKEY_REFUSED", `a person has at most ${why.most} passkeys: delete one first`)
    case "known":
      return launcherError("PASSKEY_REFUSED", "this passkey is enrolled already")
    case "missing":
      return launcherError("PASSKEY_MISSING", "you have enrolled no passkey here before this question opened")
    case "refused":
      return launcherError("PASSKEY_REFUSED", `the passkey was refused: ${why.reason}`)
  }
}

const GONE: Readonly<Partial<Record<ItemState, string>>> = {
  expired: "no answer came by its deadline",
  "not-needed": "no act of this seat changes the outcome any more",
  withdrawn: "the session has ended"
}

const gone = (state: ItemState, beside: Beside) =>
  launcherError("ITEM_CLOSED", `the item is closed: ${beside.reason ?? GONE[state] ?? `it is ${state}`}`, {
    state,
    ...(beside.newItem !== undefined && { newItem: beside.newItem })
  })

const STALE: Readonly<Record<Staleness["reason"], string>> = {
  "another proposal": "another proposal was accepted after what you were shown",
  "a handoff context": "a context was added to the handoff after what you were shown",
  "a longer record": "an evaluation or an objection was accepted after what you were shown"
}

/** Why an item takes no answer now. */
export const notOpen = (state: ItemState) =>
  state === "waiting" ? NOT_OPEN : gone(state, { id: "", newItem: undefined, reason: undefined, isWithheld: true })

/** What is known of an item beside the refusal. */
export interface Beside {
  readonly id: string
  readonly newItem: string | undefined
  /** Why the item is closed, in words. */
  readonly reason: string | undefined
  /** Whether the act of the answer it has is withheld from the caller. */
  readonly isWithheld: boolean
}

/** The answer to a refused one. */
export const answerError = (why: AnswerRefused["why"], beside: Beside) => {
  switch (why._tag) {
    case "no-item":
      return itemNotFound(beside.id)
    case "forbidden":
      return personForbidden(mayNotText(why.right))
    case "not-fresh":
      return NOT_FRESH
    case "unsigned":
      return launcherError("PASSKEY_REFUSED", "this question requires a passkey: answer it in its page")
    case "passkey":
      return passkeyError(why.why)
    case "unavailable":
      return why.isFinal
        ? launcherError("HISTORY_GONE", `the item takes no answer: ${why.reason}`)
        : launcherError("SESSION_UNREAD", `the item takes no answer now: ${why.reason}`)
    case "unknown-basis":
      return launcherError("BASIS_UNKNOWN", "the session was never at this basis: read the item again")
    case "too-many":
      return launcherError("TOO_MANY_ANSWERS", `a person gives at most ${why.perMinute} answers a minute`)
    case "answered": {
      const { answeredAtUnixMs, content, person } = why.by
      const at = new Date(answeredAtUnixMs).toISOString()
      const act = beside.isWithheld ? undefined : content.act
      const how = act === undefined ? "" : ` with ${act}`
      return launcherError("ITEM_ANSWERED", `${person ?? "the deadline"} has answered this item${how} at ${at}`, {
        ...(person !== undefined && { by: person }),
        at,
        ...(act !== undefined && { act })
      })
    }
    case "stale": {
      const { now, staleness, was } = why
      const text = staleness === undefined ? "it is not the proposal that you were shown" : STALE[staleness.reason]
      return launcherError("ITEM_STALE", `the item is stale: ${text}`, {
        reason: staleness?.reason ?? "another hash",
        was,
        now,
        ...(beside.newItem !== undefined && { newItem: beside.newItem })
      })
    }
    case "gone":
      return gone(why.state, beside)
    case "not-open":
      return NOT_OPEN
    case "invalid":
      return launcherError("VALIDATION_ERROR", `${why.field}: ${why.message}`, { field: why.field })
  }
}

/** The answer to a refused question. */
export const questionError = (why: QuestionRefused["why"], id: string) => {
  switch (why._tag) {
    case "no-item":
      return itemNotFound(id)
    case "not-assigned":
      return launcherError("FORBIDDEN", "you may not send a question: you are not assigned to the item")
    case "not-open":
      return launcherError("ITEM_NOT_OPEN", "the item is not open yet: it waits for the other participants")
    case "closed":
      return gone(why.state, { id, newItem: undefined, reason: undefined, isWithheld: true })
    case "too-many":
      return launcherError("TOO_MANY_QUESTIONS", `a person sends at most ${why.perMinute} questions a minute`)
    case "full":
      return launcherError("VALIDATION_ERROR", `text: an item takes at most ${why.most} questions`, { field: "text" })
  }
}

/** The answer to a refused return. */
export const returnError = (why: ReturnRefused["why"], { id, to }: { readonly id: string; readonly to: string }) => {
  switch (why._tag) {
    case "no-item":
      return itemNotFound(id)
    case "not-assigned":
      return launcherError("FORBIDDEN", "you may not return the item: you are not assigned to it")
    case "delegate":
      return launcherError("FORBIDDEN", `you may not pass the item on: you answer for ${why.by}, by a delegation`)
    case "not-open":
      return launcherError("ITEM_NOT_OPEN", "the item is not open yet: it waits for the other participants")
    case "closed":
      return gone(why.state, { id, newItem: undefined, reason: undefined, isWithheld: true })
    case "full":
      return launcherError("VALIDATION_ERROR", `reason: an item is returned at most ${why.most} times`, {
        field: "reason"
      })
    case "colleague":
      return launcherError("VALIDATION_ERROR", `to: ${to} may not answer: it is ${whyNotText(why.right)}`, {
        field: "to"
      })
  }
}
