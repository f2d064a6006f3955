import type * as Schema from "effect/Schema"
import type { CanonicalEvent } from "../events/CanonicalEvent.ts"
import type { ItemFact } from "../events/PeopleFacts.ts"
import { AnswerAct } from "../people/AnswerAct.ts"
import { MAX_REASON } from "../people/AnswerCheck.ts"
import { boundName } from "../values/Bounds.ts"

/** What a run waits for, as AG-UI has it. */
export interface AgUiInterrupt {
  /** The item. */
  readonly id: string
  readonly reason: string
  readonly message: string
  readonly responseSchema: Schema.JsonObject
  readonly expiresAt?: string
  readonly metadata: Schema.JsonObject
}

const SHA256 = { type: "string", pattern: "^[0-9a-f]{64}$" }

/**
 * JSON Schema of the body of `POST /inbox/{id}/answers`, where the answer goes. The log does not have the acts of the
 * seat, so it has those of all modes: the item says which are possible.
 */
const ANSWER: Schema.JsonObject = {
  type: "object",
  required: ["act", "proposalHash", "basis"],
  additionalProperties: false,
  properties: {
    act: { enum: [...AnswerAct.literals] },
    recommendation: { enum: ["APPROVE", "REVIEW", "BLOCK", "REJECT"] },
    confidence: { type: "number", minimum: 0, maximum: 1 },
    severity: { enum: ["low", "medium", "high", "critical"] },
    reason: { type: "string", maxLength: MAX_REASON },
    proposalHash: SHA256,
    basis: {
      type: "object",
      required: ["ordinal", "sha256"],
      properties: { ordinal: { type: "integer", minimum: 1 }, sha256: SHA256 }
    }
  }
}

/** The open questions of a run, by their items. */
export type AskedItems = ReadonlyMap<string, ItemFact>

/** The open questions after an event: an answer on record and a closed item end their interrupt. */
export const askedAfter = (asked: AskedItems, event: CanonicalEvent): AskedItems => {
  if (event.type !== "artifact.created") return asked
  const { answer, item } = event.data
  const id = item?.item ?? answer?.item
  if (id === undefined) return asked
  const next = new Map(asked)
  if (item?.event === "opened") next.set(id, item)
  else next.delete(id)
  return next
}

/** An open question as an interrupt. `inbox` is the address of the inbox, where a person answers. */
export const interruptOf = (
  { deadline, hash, item, scenario, seat }: ItemFact,
  inbox: string | undefined
): AgUiInterrupt => ({
  id: item,
  reason: "person",
  message: `${boundName(seat)} waits for a person: the answer goes to the inbox of the launch service`,
  responseSchema: ANSWER,
  ...(deadline !== undefined && { expiresAt: deadline }),
  metadata: {
    seat,
    hash,
    ...(scenario !== undefined && { scenario }),
    ...(inbox !== undefined && { link: `${inbox}/inbox/${encodeURIComponent(item)}` })
  }
})
