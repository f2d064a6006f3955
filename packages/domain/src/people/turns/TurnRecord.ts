import * as Schema from "effect/Schema"
import { SHOWN_HASH_SIGNS, TURN_OUTCOMES, type TurnFact } from "../../events/PeopleFacts.ts"
import { AnswerAct } from "../AnswerAct.ts"
import { boundedText, nonceText, sha256Text, timeText } from "../ArtifactTexts.ts"
import { TurnFailure } from "./TurnStep.ts"
import { TurnUsage } from "./TurnUsage.ts"

const optional = Schema.optionalKey

/** Tasks of a turn: that of its message, and that of a repair. */
const MAX_TASKS = 2

/**
 * A turn of an agent that speaks A2A, as the log of the control plane keeps it, once for each turn. It has no text of
 * the agent and none of the proposal.
 */
export const TurnRecord = Schema.Struct({
  v: Schema.Literal(1),
  turn: boundedText,
  participant: boundedText,
  agentRef: boundedText,
  /** `acted` by the agent, or by an abstention after a failure; `ended` without an act that was due. */
  outcome: Schema.Literals(TURN_OUTCOMES),
  failure: optional(TurnFailure),
  /** Why it failed or ended, in words of the program. */
  reason: optional(Schema.String.check(Schema.isMaxLength(1_000))),
  /** An abstention after a failure is not an opinion of the agent. */
  origin: optional(Schema.Literals(["agent", "failure"])),
  act: optional(AnswerAct),
  confidence: optional(Schema.Finite),
  /** The message of the act in the session. */
  messageId: optional(boundedText),
  ordinal: optional(Schema.Int),
  payloadSha256: optional(sha256Text),
  proposalHash: sha256Text,
  /** The agent card as it was at the launch. */
  cardSha256: sha256Text,
  taskId: optional(Schema.String.check(Schema.isMaxLength(1_000))),
  /** Messages that were sent once more, since no answer had come and no task was found. */
  resent: Schema.Int,
  /** What the agent states that its tasks have used, one entry for each task; absent where it states nothing. */
  usage: optional(Schema.Array(TurnUsage).check(Schema.isMaxLength(MAX_TASKS))),
  openedAt: timeText,
  closedAt: timeText,
  nonce: nonceText
}).annotate({ identifier: "TurnRecord", description: "What became of a turn of an agent that speaks A2A" })
export type TurnRecord = typeof TurnRecord.Type

/** What the event of the artifact says: its content without times and ids of others. */
export const turnFactOf = ({ agentRef, failure, outcome, participant, proposalHash, turn }: TurnRecord): TurnFact => ({
  turn,
  participant,
  agentRef,
  outcome,
  hash: proposalHash.slice(0, SHOWN_HASH_SIGNS),
  ...(failure !== undefined && { failure })
})
