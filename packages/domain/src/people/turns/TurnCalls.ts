import { draftEvent, type EventDraft } from "../../events/CanonicalEvent.ts"
import { A2A_USAGE } from "../../events/PeopleFacts.ts"
import type { ModelPrices } from "../../prices/ModelPrices.ts"
import { costData } from "../../usage/CallCosts.ts"
import type { TurnRecord } from "./TurnRecord.ts"

/** A record that arrives later than this is not of now. */
const LATE_MS = 60_000

/** The model calls of a turn as events: one for each task whose agent states what it has used. */
export const turnCalls = (
  { closedAt, messageId, participant, turn, usage = [] }: TurnRecord,
  ts: string,
  prices: ModelPrices
): ReadonlyArray<EventDraft> =>
  usage.map((used, nth) => {
    const { model, totalTokens, promptTokens, completionTokens } = used
    return draftEvent(
      "llm.call.completed",
      {
        ts,
        subject: { kind: "message", id: messageId ?? `${turn}:${nth}` },
        source: { kind: "control-plane", name: "observability-controller" }
      },
      {
        messageType: "Turn",
        messageId: messageId ?? "",
        sender: participant,
        turn,
        usageSource: A2A_USAGE,
        ...(model !== undefined && { model }),
        ...{ promptTokens, completionTokens, totalTokens },
        decodedPayload: { ...used, ...costData(prices, used, closedAt) },
        ...(Date.parse(closedAt) < Date.parse(ts) - LATE_MS && { sentAt: closedAt })
      }
    )
  })
