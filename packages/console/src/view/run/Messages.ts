import type { CanonicalEvent, EventOf } from "@runplane/domain"

/** The result of a message, as far as the events up to an index show it. */
export type Fate = "accepted" | "repeated" | "refused"

export interface MessageRow {
  readonly index: number
  readonly ts: string
  readonly from: string
  /** Recipients; empty: all participants. */
  readonly to: ReadonlyArray<string>
  readonly type: string
  readonly messageId: string
  readonly fate: Fate
  /** Why it was refused. */
  readonly why: string
}

/** Every message of the session, the refused ones too, in the order in which they were seen. */
export const messagesOf = (events: Iterable<CanonicalEvent>): ReadonlyArray<MessageRow> => {
  const rows: Array<MessageRow> = []
  for (const event of events) {
    if (event.type === "message.received") {
      const { messageId, messageType, sender, to } = event.data
      rows.push({ ...positionOf(event), from: sender, to, type: messageType, messageId, fate: "accepted", why: "" })
    } else if (event.type === "message.send_failed") {
      const { errorCode = "", errorMessage = "", messageId = "" } = event.data
      const why = [errorCode, errorMessage].filter((text) => text !== "").join(": ")
      rows.push({ ...positionOf(event), from: "", to: [], type: "", messageId, fate: "refused", why })
    } else if (event.type === "message.sent" && (!event.data.ok || event.data.duplicate === true)) {
      const { duplicate, errorCode = "", errorMessage = "", messageId = "", ok } = event.data
      const why = [errorCode, errorMessage].filter((text) => text !== "").join(": ")
      const fate = ok && duplicate === true ? "repeated" : "refused"
      rows.push({ ...positionOf(event), from: "", to: [], type: "", messageId, fate, why })
    }
  }
  return rows
}

const positionOf = ({ index, ts }: CanonicalEvent) => ({ index, ts })

export interface SignalRow {
  readonly event: EventOf<"signal.emitted">
  readonly acknowledged: { readonly by: string; readonly ts: string } | undefined
}

/** Every signal, with who acknowledged it first. */
export const signalsOf = (events: Iterable<CanonicalEvent>): ReadonlyArray<SignalRow> => {
  const signals: Array<EventOf<"signal.emitted">> = []
  const acknowledged = new Map<string, { readonly by: string; readonly ts: string }>()
  for (const event of events) {
    if (event.type === "signal.emitted") signals.push(event)
    if (event.type === "signal.acknowledged" && !acknowledged.has(event.data.signalId)) {
      acknowledged.set(event.data.signalId, { by: event.data.sender, ts: event.ts })
    }
  }
  return signals.map((event) => ({ event, acknowledged: acknowledged.get(event.data.messageId) }))
}
