import { A2A_TURN, type ItemState, TurnFailure, TurnRecord, TurnUsage } from "@runplane/domain"
import * as Schema from "effect/Schema"
import type { StoredContent } from "../StoredContent.ts"

/** What the rows of a turn say, beside those of its item and its answer. */
export const TurnColumns = Schema.Struct({
  agentRef: Schema.String,
  cardSha256: Schema.String,
  taskId: Schema.NullOr(Schema.String),
  resent: Schema.Int,
  usage: Schema.Array(TurnUsage),
  failure: Schema.NullOr(TurnFailure),
  failureReason: Schema.NullOr(Schema.String)
})

export const encodeTurn = Schema.encodeEffect(Schema.fromJsonString(TurnRecord))

/** A turn with its item and its answer, as rows have them. */
interface TurnContentRow {
  readonly id: string
  readonly seat: string
  readonly state: ItemState
  readonly reason: string | null
  readonly proposal_hash: string
  readonly opened_at: string | null
  readonly closed_at: string | null
  readonly origin: "person" | "deadline" | "agent" | "failure" | null
  readonly content: StoredContent | null
  readonly message_id: string | null
  readonly payload_sha256: string | null
  readonly turn: typeof TurnColumns.Type | null
}

/** Characters of a task id and of a reason in a record. */
const MAX_TEXT = 1_000

/** The one record of a turn: `ordinal` is that of its accepted message. Undefined for one that never began. */
export const turnRecordOf = (row: TurnContentRow, nonce: string, ordinal?: number): TurnRecord | undefined => {
  const { closed_at, content, id, message_id, opened_at, origin, payload_sha256, proposal_hash, seat, state, turn } =
    row
  if (turn === null || opened_at === null || closed_at === null) return undefined
  const { agentRef, cardSha256, failure, failureReason, resent, taskId, usage } = turn
  const hasActed = ordinal !== undefined && content !== null && message_id !== null && payload_sha256 !== null
  const why = failure ?? (state === "refused" ? "refused" : undefined)
  const reason = failureReason ?? (state === "refused" ? "the runtime refused the act" : row.reason)
  return {
    v: 1,
    turn: id,
    participant: seat,
    agentRef,
    outcome: hasActed ? "acted" : why === undefined ? "ended" : "failed",
    ...(why !== undefined && { failure: why }),
    ...(reason !== null && { reason: reason.slice(0, MAX_TEXT).toWellFormed() }),
    ...(hasActed && {
      origin: origin === "agent" ? ("agent" as const) : ("failure" as const),
      act: content.act,
      ...(content.confidence !== undefined && { confidence: content.confidence }),
      messageId: message_id,
      ordinal,
      payloadSha256: payload_sha256
    }),
    proposalHash: proposal_hash,
    cardSha256,
    ...(taskId !== null && { taskId: taskId.slice(0, MAX_TEXT).toWellFormed() }),
    resent,
    ...(usage.length > 0 && { usage }),
    openedAt: opened_at,
    closedAt: closed_at,
    nonce
  }
}

/** The key of the record of a turn. */
export const turnKey = (item: string): string => `${A2A_TURN}:${item}`
