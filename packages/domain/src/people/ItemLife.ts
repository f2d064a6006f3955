import * as Schema from "effect/Schema"

/** The states of an item: one question to one seat. */
export const ItemState = Schema.Literals([
  "waiting",
  "open",
  "answered",
  "sent",
  "accepted",
  "stale",
  "not-needed",
  "expired",
  "withdrawn",
  "refused",
  "unknown"
]).annotate({
  identifier: "ItemState",
  description:
    "waiting, open, answered and sent go on; accepted has its message on record; refused was not taken by the runtime; " +
    "unknown is an answer whose message was found nowhere"
})
export type ItemState = typeof ItemState.Type

/**
 * The life of an item. An answer that is stored is sent: neither another proposal nor the end of the session withdraws
 * it, only the runtime refuses it. `accepted` follows `answered` when the message is read before its acknowledgement.
 */
const transitions: Readonly<Record<ItemState, ReadonlyArray<ItemState>>> = {
  waiting: ["open", "stale", "not-needed", "withdrawn"],
  open: ["answered", "stale", "not-needed", "expired", "withdrawn"],
  answered: ["sent", "accepted", "refused", "unknown"],
  sent: ["accepted", "refused", "unknown"],
  accepted: [],
  stale: [],
  "not-needed": [],
  expired: [],
  withdrawn: [],
  refused: [],
  unknown: []
}

/** Whether an item may change from one state to the other. */
export const mayBecome = (from: ItemState, to: ItemState): boolean => transitions[from].includes(to)

/** Whether the life of an item has ended. */
export const isClosed = (state: ItemState): boolean => transitions[state].length === 0
