import * as Schema from "effect/Schema"
import { ITEM_EVENTS, type ItemFact, SHOWN_HASH_SIGNS } from "../events/PeopleFacts.ts"
import { boundedText, nonceText, sha256Text, timeText } from "./ArtifactTexts.ts"
import { ItemState } from "./ItemLife.ts"
import { MAX_STEP_NAMES } from "./SeatRules.ts"

const optional = Schema.optionalKey

/** Characters of the reason for a missing person. */
const MAX_WHY = 1_000

/** A step of an escalation. */
export const EscalationRecord = Schema.Struct({
  /** Its position in `escalate`, from 1 on; absent for a delegation that is refused where no step follows. */
  step: optional(Schema.Int.check(Schema.isGreaterThan(0))),
  /** Who may answer from now on too. */
  to: Schema.Array(boundedText).check(Schema.isMaxLength(MAX_STEP_NAMES)),
  /** `time`, or `delegation`: to a person who may not answer, which makes the next step at once. */
  cause: Schema.Literals(["time", "delegation"]),
  reach: Schema.Literals(["persons", "unknown", "none"]),
  /** Why no person is known to be reached. */
  why: optional(Schema.String.check(Schema.isMaxLength(MAX_WHY)))
})
export type EscalationRecord = typeof EscalationRecord.Type

/**
 * What became of a question, as the log of the control plane keeps it: when it opens, when it is escalated, when a step
 * reaches no person, at a reminder, when no person could be notified, and when it closes. It has no text of the
 * proposal.
 */
export const PeopleItem = Schema.Struct({
  v: Schema.Literal(1),
  item: boundedText,
  event: Schema.Literals(ITEM_EVENTS),
  /** Of `escalated`: the step that was made. Of `unreachable`: the step that reaches no person. */
  escalation: optional(EscalationRecord),
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
})
  .check(
    Schema.makeFilter(({ escalation, event }) =>
      (event === "escalated" || event === "unreachable") === (escalation !== undefined)
        ? undefined
        : { path: ["escalation"], issue: "the events escalated and unreachable have one, the others have none" }
    )
  )
  .annotate({
    identifier: "PeopleItem",
    description: "What became of a question to a person"
  })
export type PeopleItem = typeof PeopleItem.Type

/** What the event of the artifact says: its content without free text. */
export const itemFactOf = (content: PeopleItem): ItemFact => {
  const { deadline, escalation, event, item, person, proposalHash, scenario, seat, state, unanswered } = content
  return {
    item,
    event,
    seat,
    scenario,
    state,
    unanswered,
    hash: proposalHash.slice(0, SHOWN_HASH_SIGNS),
    ...(person !== undefined && { person }),
    ...(deadline !== undefined && { deadline }),
    ...(escalation !== undefined && {
      to: escalation.to,
      reach: escalation.reach,
      ...(escalation.step !== undefined && { step: escalation.step })
    })
  }
}
