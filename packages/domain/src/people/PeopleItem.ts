import * as Schema from "effect/Schema"
import { ITEM_EVENTS, type ItemFact, SHOWN_HASH_SIGNS } from "../events/PeopleFacts.ts"
import { boundedText, nonceText, sha256Text, timeText } from "./ArtifactTexts.ts"
import { ItemState } from "./ItemLife.ts"

const optional = Schema.optionalKey

/**
 * What became of a question, as the log of the control plane keeps it: when it opens, at a reminder, when no person
 * could be notified, and when it closes. It has no text of the proposal.
 */
export const PeopleItem = Schema.Struct({
  v: Schema.Literal(1),
  item: boundedText,
  event: Schema.Literals(ITEM_EVENTS),
  seat: boundedText,
  scenario: boundedText,
  state: ItemState,
  /** Whether it closed without an answer of a person, although it was asked until then. */
  unanswered: Schema.Boolean,
  /** Why it is closed; of a refusal in the words of the runtime. */
  reason: optional(Schema.String.check(Schema.isMaxLength(4_000))),
  proposalHash: sha256Text,
  /** Who has answered; absent without an answer of a person. */
  person: optional(boundedText),
  openedAt: timeText,
  closedAt: optional(timeText),
  deadline: optional(timeText),
  nonce: nonceText
}).annotate({ identifier: "PeopleItem", description: "What became of a question to a person" })
export type PeopleItem = typeof PeopleItem.Type

/** What the event of the artifact says: its content without free text. */
export const itemFactOf = (content: PeopleItem): ItemFact => {
  const { deadline, event, item, person, proposalHash, scenario, seat, state, unanswered } = content
  return {
    item,
    event,
    seat,
    scenario,
    state,
    unanswered,
    hash: proposalHash.slice(0, SHOWN_HASH_SIGNS),
    ...(person !== undefined && { person }),
    ...(deadline !== undefined && { deadline })
  }
}
