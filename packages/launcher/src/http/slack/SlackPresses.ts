import type { AnswerContent } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Directory } from "../../catalog/Directory.ts"
import type { LauncherSlack } from "../../LauncherSettings.ts"
import type { SignedIn } from "../../people/Answers.ts"
import type { ShownItem } from "../../people/Inbox.ts"
import type { PeopleShape } from "../../people/People.ts"
import type { SlackClient } from "../../slack/SlackClient.ts"
import { messageOf, takesPresses } from "../../slack/SlackItems.ts"
import { personOfMember } from "../../slack/SlackMembers.ts"
import { type Button, REASON, readButton, readForm, type SlackPayload } from "../../slack/SlackPayload.ts"
import { itemAddress, reasonForm, type SlackMessage, slackText } from "../../slack/SlackTexts.ts"
import { answerError } from "../inbox/AnswerErrors.ts"

/** What a press comes to: the sentence for the person, and the message where it changes. */
export interface PressOutcome {
  /** Undefined: a form is open, and says the rest. */
  readonly sentence: string | undefined
  readonly message: SlackMessage | undefined
  /** Whether the reason itself is at fault, so that its form stays open. */
  readonly isReasonFault: boolean
}

/** A press as the service knows it. */
export interface Press {
  readonly member: string
  /** Undefined for a value that no message of this service has. */
  readonly button: Button | undefined
  /** Undefined before the form. */
  readonly reason: string | undefined
  /** Undefined where no form can be opened. */
  readonly trigger: string | undefined
  /** Where the sentence goes; undefined where Slack has named no such address. */
  readonly responseUrl: string | undefined
}

export const pressOf = (payload: SlackPayload): Press => {
  const member = payload.user.id
  if (payload.type === "view_submission") {
    const form = Option.getOrUndefined(readForm(payload.view.private_metadata))
    const reason = payload.view.state.values[REASON][REASON].value ?? ""
    return { member, button: form?.button, reason, trigger: undefined, responseUrl: form?.responseUrl }
  }
  return {
    member,
    button: Option.getOrUndefined(readButton(payload.actions[0]?.value)),
    reason: undefined,
    trigger: payload.trigger_id,
    responseUrl: payload.response_url
  }
}

/** What became of a stored answer, as the end of a sentence: a press that is repeated later learns it too. */
const fateOf = (shown: ShownItem | undefined): string => {
  const reason = shown?.row.reason
  const because = reason === null || reason === undefined ? "" : `: ${slackText(reason)}`
  switch (shown?.row.state) {
    case "accepted":
      return ", and on record in the session."
    case "refused":
      return `, and the runtime refused it${because}. It does not count.`
    case "unknown":
      return `. It is not known whether it counts${because}.`
    case "stale":
    case "withdrawn":
    case "expired":
    case "not-needed":
      return `. It did not reach the session: the item is ${shown.row.state}${because}.`
    default:
      return ", and goes into the session."
  }
}

const only = (sentence: string): PressOutcome => ({ sentence, message: undefined, isReasonFault: false })

const UNKNOWN_BUTTON = only("This button is not one of a question here: nothing was done.")
const UNKNOWN_PERSON = only(
  "Nothing was done: the directory of this scenario names no person, or several, with your member id in Slack."
)

/** What a press does. All that it claims is checked against the rows, as an answer of every other client is. */
export const makeSlackPresses = Effect.fnUntraced(function* (
  { answers, inbox, items, seats }: PeopleShape,
  { botToken, publicUrl }: LauncherSlack,
  client: SlackClient
) {
  const directory = yield* Directory

  const read = (person: SignedIn, item: string, isSeen: boolean) => inbox.show(person, item, { scope: "own", isSeen })

  /** The message as the item is now, once a press would come to nothing. */
  const closedMessage = (shown: ShownItem | undefined) =>
    shown === undefined || shown.row.state === "open" ? undefined : messageOf(shown, publicUrl)

  const submit = Effect.fnUntraced(function* (person: SignedIn, button: Button, reason: string) {
    const { act, basis, item: id, proposalHash } = button
    const content: AnswerContent = { act, reason }
    const submitted = { content, proposalHash, basis }
    return yield* answers.submit(id, person, submitted).pipe(
      Effect.flatMap(() =>
        Effect.map(read(person, id, false), (shown): PressOutcome => {
          const sentence = `Your answer "${act}" is stored${fateOf(shown)}`
          return { sentence, message: closedMessage(shown), isReasonFault: false }
        })
      ),
      Effect.catchTag("AnswerRefused", ({ why }) =>
        Effect.map(read(person, id, false), (shown): PressOutcome => {
          const isWithheld = shown?.isGivenWithheld ?? true
          const beside = {
            id,
            newItem: shown?.row.new_item ?? undefined,
            reason: shown?.row.reason ?? undefined,
            isWithheld
          }
          const { message } = answerError(why, beside)
          return {
            sentence: `Nothing was stored: ${slackText(message)}. ${linkTo(id)}`,
            message: closedMessage(shown),
            isReasonFault: why._tag === "invalid" && why.field === "reason"
          }
        })
      )
    )
  })

  const linkTo = (item: string) => `<${itemAddress(publicUrl, item)}|Open the question>`

  /** Opens the form for the reason, or leads to the page that has one. */
  const askReason = Effect.fnUntraced(function* (button: Button, { responseUrl, trigger }: Press) {
    const onPage = only(`Nothing is stored yet: this question requires a reason. ${linkTo(button.item)} to give it.`)
    if (botToken === undefined || trigger === undefined || responseUrl === undefined) return onPage
    const form = { trigger_id: trigger, view: reasonForm(button, responseUrl) }
    return yield* client.call("views.open", botToken, form).pipe(
      Effect.as<PressOutcome>({ sentence: undefined, message: undefined, isReasonFault: false }),
      Effect.catchTag("SlackCallFailed", ({ message }) => Effect.as(Effect.logWarning(message), onPage))
    )
  })

  return Effect.fn("SlackPresses.press")(function* (press: Press) {
    const { button, member, reason } = press
    if (button === undefined) return UNKNOWN_BUTTON
    const { item } = button
    const at = yield* items.seatOf(item)
    const seat = at && (yield* seats.find(at.sessionId, at.seat))
    if (seat === undefined) return UNKNOWN_BUTTON
    const person = personOfMember(yield* directory.peopleOf(seat.scenarioRef), member, seat.scenarioRef)
    if (person === undefined) return UNKNOWN_PERSON
    const shown = yield* read(person, item, true)
    if (shown?.row.state === "open" && shown.right === "answer") {
      if (!takesPresses(shown)) {
        return only(`Nothing is stored: this question requires a sign-in. ${linkTo(item)}, and sign in there.`)
      }
      const isCurrent = shown.row.proposal_hash === button.proposalHash
      if (isCurrent && shown.reason === "required" && reason === undefined) return yield* askReason(button, press)
    }
    return yield* submit(person, button, reason ?? "")
  })
})
