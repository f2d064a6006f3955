import { type AnswerAct, type ItemState, isLastWord } from "@runplane/domain"
import { type Button, encodeButton, encodeForm, REASON } from "./SlackPayload.ts"

/** Signs of a hash that a person compares. */
const SHOWN_HASH_SIGNS = 8

/** Slack reads `<`, `>` and `&` as its own signs: a title could make links and mentions of them. */
export const slackText = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

/** A question as a message shows it. */
export interface SlackQuestion {
  readonly item: string
  readonly title: string | undefined
  readonly scenarioRef: string
  readonly seat: string
  /** ISO-8601. */
  readonly deadlineAt: string | undefined
  readonly proposalHash: string
  readonly basis: Button["basis"]
  readonly acts: ReadonlyArray<AnswerAct>
  readonly reason: "required" | "optional"
  /** Whether a press is enough; otherwise the seat requires a sign-in, and the message has the link alone. */
  readonly takesPresses: boolean
}

/** What became of a question. */
export interface SlackEnd {
  readonly item: string
  readonly title: string | undefined
  readonly scenarioRef: string
  readonly seat: string
  readonly state: ItemState
  readonly reason: string | undefined
  /** Who has answered; undefined for an act of the deadline. */
  readonly by: string | undefined
  readonly newItem: string | undefined
}

/** A message: what notifications show of it, and its blocks. */
export interface SlackMessage {
  readonly text: string
  readonly blocks: ReadonlyArray<object>
}

const NAMES: Readonly<Record<AnswerAct, string>> = {
  approve: "Approve",
  reject: "Reject",
  abstain: "Abstain",
  accept: "Accept",
  decline: "Decline",
  evaluate: "Evaluate",
  object: "Object"
}

const section = (text: string) => ({ type: "section", text: { type: "mrkdwn", text } })
const plain = (text: string) => ({ type: "plain_text", text })

/** The address of the page of an item. */
export const itemAddress = (publicUrl: string, item: string): string => `${publicUrl}/inbox/${item}`

const link = (publicUrl: string, item: string, text: string) => `<${itemAddress(publicUrl, item)}|${text}>`

const headOf = ({ scenarioRef, seat, title }: Pick<SlackQuestion, "title" | "scenarioRef" | "seat">) =>
  `*${slackText(title ?? "A question")}*\n${slackText(scenarioRef)}, seat ${slackText(seat)}`

/** An open question with its buttons. Evaluations and objections have values that only the page takes. */
export const questionMessage = (question: SlackQuestion, publicUrl: string): SlackMessage => {
  const { acts, basis, deadlineAt, item, proposalHash, reason, takesPresses, title } = question
  const hash = proposalHash.slice(0, SHOWN_HASH_SIGNS)
  const until =
    deadlineAt === undefined ? "without a deadline" : `until ${deadlineAt.slice(0, 16).replace("T", " ")} UTC`
  const buttons = takesPresses ? acts.filter(isLastWord) : []
  const elements = buttons.map((act) => ({
    type: "button",
    action_id: act,
    text: plain(NAMES[act]),
    value: encodeButton({ v: 1, item, act, proposalHash, basis }),
    // The form for a reason is a second step by itself.
    ...(reason === "optional" && {
      confirm: {
        title: plain(NAMES[act]),
        text: plain(`Sends "${act}" on the proposal with the hash ${hash}. No answer can be taken back.`),
        confirm: plain(NAMES[act]),
        deny: plain("Back")
      }
    })
  }))
  const how = takesPresses ? "Read it in full" : "Sign in to read and answer it: this question takes no press"
  return {
    text: slackText(`Question: ${title ?? item}`),
    blocks: [
      section(`${headOf(question)}\nHash \`${hash}\`, ${until}\n${link(publicUrl, item, how)}`),
      ...(elements.length === 0 ? [] : [{ type: "actions", elements }])
    ]
  }
}

/** What became of a question, in one sentence. It has no act: votes may be withheld from others in the channel. */
export const endSentence = ({ by, reason, state }: Pick<SlackEnd, "by" | "reason" | "state">): string => {
  const who = by === undefined ? "the deadline" : slackText(by)
  const because = reason === undefined ? "" : `: ${slackText(reason)}`
  const cause = (fallback: string) => slackText(reason ?? fallback)
  switch (state) {
    case "waiting":
      return "The question waits for the other participants."
    case "open":
      return "The question is open."
    case "answered":
    case "sent":
      return by === undefined ? "No answer came by the deadline, which acts by its rule." : `Answered by ${who}.`
    case "accepted":
      return by === undefined
        ? "No answer came by the deadline, which has acted by its rule."
        : `Answered by ${who}, and on record.`
    case "stale":
      return `Stale: ${cause("what was shown has changed")}.`
    case "not-needed":
      return `Not needed: ${cause("no act of this seat changes the outcome any more")}.`
    case "expired":
      return `Expired: ${cause("no answer came by the deadline")}.`
    case "withdrawn":
      return `Withdrawn: ${cause("the session has ended")}.`
    case "refused":
      return `The runtime refused the answer of ${who}${because}.`
    case "unknown":
      return `It is not known whether the answer of ${who} counts${because}.`
  }
}

/** A question that takes no press any more. */
export const endMessage = (end: SlackEnd, publicUrl: string): SlackMessage => {
  const sentence = endSentence(end)
  const next = end.newItem === undefined ? "" : ` ${link(publicUrl, end.newItem, "The question that follows")}`
  return {
    text: sentence,
    blocks: [section(`${headOf(end)}\n${sentence}${next}\n${link(publicUrl, end.item, "Its page")}`)]
  }
}

/** A sentence for the person who has pressed, and for no other one in the channel. */
export const sentenceBody = (text: string) => ({ response_type: "ephemeral", replace_original: false, text })

/** Characters of a reason in Slack, whose fields take no more. */
const MAX_SLACK_REASON = 3_000

/** The form that takes the reason of an act. */
export const reasonForm = (button: Button, responseUrl: string) => ({
  type: "modal",
  callback_id: REASON,
  private_metadata: encodeForm({ button, responseUrl }),
  title: plain(NAMES[button.act]),
  submit: plain(NAMES[button.act]),
  close: plain("Back"),
  blocks: [
    section(
      `Sends "${button.act}" on the proposal with the hash \`${button.proposalHash.slice(0, SHOWN_HASH_SIGNS)}\`.`
    ),
    {
      type: "input",
      block_id: REASON,
      label: plain("Your reason"),
      element: { type: "plain_text_input", action_id: REASON, multiline: true, max_length: MAX_SLACK_REASON }
    }
  ]
})
