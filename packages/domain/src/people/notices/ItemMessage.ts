import type * as Schema from "effect/Schema"
import type { ItemFact } from "../../events/PeopleFacts.ts"
import { type ChatMessage, lineText, safeLink, slackMessage, teamsMessage } from "../../values/ChatMessage.ts"
import { minuteText } from "../../values/IsoTime.ts"

/** The bodies that webhooks can send: JSON for programs, and messages for chats. */
export const WEBHOOK_FORMATS = ["generic", "slack", "teams"] as const
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number]
export type ChatFormat = Exclude<WebhookFormat, "generic">

/** A question as a message shows it: ids, times and words of the program, and no text of a proposal. */
export type ShownQuestion = Pick<
  ItemFact,
  "deadline" | "hash" | "person" | "scenario" | "seat" | "state" | "unanswered"
> & { readonly event: string }

/** Characters of a title, and of the value of a fact. */
const MAX_TITLE = 200
const MAX_FACT = 300

const TITLES: ReadonlyMap<string, (seat: string) => string> = new Map([
  ["opened", (seat) => `Question for ${seat}`],
  ["escalated", (seat) => `Escalated: question for ${seat}`],
  ["returned", (seat) => `Given to you: question for ${seat}`],
  ["delegated", (seat) => `Delegated to you: question for ${seat}`],
  ["reminded", (seat) => `Reminder: question for ${seat}`],
  ["undelivered", (seat) => `No person was notified: question for ${seat}`],
  ["unreachable", (seat) => `No person can be reached: escalation of the question for ${seat}`],
  ["closed", (seat) => `Closed: question for ${seat}`]
])

const COLORS: ReadonlyMap<string, ChatMessage["color"]> = new Map([
  ["escalated", "Warning"],
  ["reminded", "Warning"],
  ["undelivered", "Attention"],
  ["unreachable", "Attention"],
  ["closed", "Good"]
])

/** `Question for risk-officer` */
export const questionTitle = ({ event, seat }: Pick<ShownQuestion, "event" | "seat">): string =>
  lineText((TITLES.get(event) ?? ((name) => `${event}: question for ${name}`))(seat), MAX_TITLE)

/** What a message says of a question, in the order of reading: each text on one line, and bounded. */
export const questionFacts = (question: ShownQuestion): ChatMessage["facts"] => {
  const { deadline, event, hash, person, scenario, state, unanswered } = question
  const facts: ReadonlyArray<readonly [string, string | undefined]> = [
    ["Scenario", scenario],
    ["Deadline", event === "closed" ? undefined : deadline === undefined ? "none" : minuteText(deadline)],
    ["State", event === "closed" ? state : undefined],
    ["Answered by", event === "closed" ? (unanswered ? "no person" : person) : undefined],
    ["Proposal", hash]
  ]
  return facts.flatMap(([name, text]) => (text === undefined ? [] : [{ name, text: lineText(text, MAX_FACT) }]))
}

/** A question as chats show it. The link gives no right: its reader signs in. */
export const questionMessage = (question: ShownQuestion, link: string | undefined): ChatMessage => ({
  title: questionTitle(question),
  color: question.event === "closed" && question.unanswered ? "Warning" : (COLORS.get(question.event) ?? "Accent"),
  facts: questionFacts(question),
  link: safeLink(link)
})

const BODIES: Readonly<Record<ChatFormat, (message: ChatMessage) => Schema.Json>> = {
  slack: slackMessage,
  teams: teamsMessage
}

/** The body of a webhook for a chat: JSON of at most some 20 kilobytes. */
export const chatBody = (format: ChatFormat, message: ChatMessage): Schema.Json => BODIES[format](message)

/** What the test of a subscription sends to a chat. */
export const TEST_MESSAGE: ChatMessage = {
  title: "Test of a subscription",
  color: "Accent",
  facts: [{ name: "Next", text: "questions to people, and what becomes of them" }],
  link: undefined
}
