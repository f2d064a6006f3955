import type { CanonicalEvent } from "../events/CanonicalEvent.ts"
import { lacksUsage } from "../projector/UsageSums.ts"
import { hasPrompt } from "./ModelUse.ts"

/** Events of one kind of gap that are listed, the first ones. */
const MAX_LISTED = 200

/** The kinds of gaps, each with its meaning: what an absent one claims of the run. */
export const GAP_KINDS = {
  streamGaps: "the runtime had dropped history before it could be read, or a frame could not be stored",
  lateSpans: "a span arrived after the end of its run",
  assumedAttributions: "the sender of a message was inferred, because its span names none",
  guessedPrices: "the cost of a model call is a guess",
  callsWithoutUsage: "the agent stated no token count of a model call",
  callsWithoutPrompt: "a model call has no hash of its prompt: the agent recorded none, or the prompt was erased",
  alteredMessages: "the record of a message differs from the sent one, such as in a number beyond the exact range",
  unknownEvents: "this release does not know the type of an event"
} as const
export type GapKind = keyof typeof GAP_KINDS

/** The gaps of one kind. */
export interface GapList {
  readonly meaning: string
  readonly count: number
  /** The first ones: the positions of their events in the run, with a detail where the event has one. */
  readonly events: ReadonlyArray<{ readonly index: number; readonly at: string; readonly detail?: string }>
}

/** What is known to be missing, late or assumed in a run. Each kind is there, also with a count of 0. */
export type Gaps = Readonly<Record<GapKind, GapList>>

export interface GapReader {
  readonly take: (event: CanonicalEvent) => void
  readonly read: () => Gaps
}

/** Reads the gaps of a run from its events, in order. */
export const gapReader = (): GapReader => {
  const found = new Map<GapKind, { count: number; events: Array<GapList["events"][number]> }>()
  const note = (kind: GapKind, { index, ts }: CanonicalEvent, detail?: string) => {
    const list = found.get(kind) ?? { count: 0, events: [] }
    found.set(kind, list)
    list.count += 1
    if (list.events.length < MAX_LISTED) list.events.push({ index, at: ts, ...(detail !== undefined && { detail }) })
  }
  return {
    take: (event) => {
      const { data } = event.recorded
      if (data["late"] === true) note("lateSpans", event)
      if (data["attribution"] === "assumed") note("assumedAttributions", event)
      if (data["altered"] !== undefined) note("alteredMessages", event)
      switch (event.type) {
        case "session.stream.opened":
          if (event.data.status === "gap") note("streamGaps", event, event.data.detail)
          return
        case "llm.call.completed":
          if (event.data.costBasis === "fallback") note("guessedPrices", event, event.data.model)
          if (lacksUsage(event.data)) note("callsWithoutUsage", event, event.data.model)
          if (!hasPrompt(data)) note("callsWithoutPrompt", event, event.data.model)
          return
        case "unknown":
          note("unknownEvents", event, event.recorded.type)
          return
      }
    },
    read: () => {
      const listOf = (kind: GapKind): GapList => ({
        meaning: GAP_KINDS[kind],
        ...(found.get(kind) ?? { count: 0, events: [] })
      })
      return {
        streamGaps: listOf("streamGaps"),
        lateSpans: listOf("lateSpans"),
        assumedAttributions: listOf("assumedAttributions"),
        guessedPrices: listOf("guessedPrices"),
        callsWithoutUsage: listOf("callsWithoutUsage"),
        callsWithoutPrompt: listOf("callsWithoutPrompt"),
        alteredMessages: listOf("alteredMessages"),
        unknownEvents: listOf("unknownEvents")
      }
    }
  }
}
