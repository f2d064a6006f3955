import { type CanonicalEvent, eventTime, type KnownEvent, spanTimes } from "@runplane/domain"
import { gistOf } from "../events/Events.ts"

export type LaneKind = "proposal" | "opinion" | "objection" | "vote" | "commitment" | "model" | "tool" | "other"

export const LANE_KINDS: ReadonlyArray<{ readonly kind: LaneKind; readonly title: string }> = [
  { kind: "proposal", title: "Proposal" },
  { kind: "opinion", title: "Opinion" },
  { kind: "objection", title: "Objection" },
  { kind: "vote", title: "Vote or answer" },
  { kind: "commitment", title: "Commitment" },
  { kind: "model", title: "Language model, below" },
  { kind: "tool", title: "Tool, above" },
  { kind: "other", title: "Signal, progress" }
]

/** An event in the lane of a participant. */
export interface LaneEvent {
  readonly event: CanonicalEvent
  readonly who: string
  readonly kind: LaneKind
  /** Unix milliseconds. */
  readonly at: number
  /** Duration that ends with the event, where known. */
  readonly lastedMs: number | undefined
  readonly text: string
}

/**
 * The events of each lane: one for each message, the most specific one. `message.received` is left out where another
 * event describes the message.
 */
export const laneEventsOf = (events: Iterable<CanonicalEvent>): ReadonlyArray<LaneEvent> => {
  const found: Array<LaneEvent> = []
  const called = new Map<string, number>()
  for (const event of events) {
    if (event.type === "unknown") continue
    const kind = kindOf(event)
    if (kind === undefined || !("sender" in event.data) || event.data.sender === "") continue
    const at = Date.parse(eventTime(event))
    if (event.type === "tool.called") called.set(event.data.toolCallId ?? "", at)
    found.push({ event, who: event.data.sender, kind, at, lastedMs: lastedOf(event, at, called), text: gistOf(event) })
  }
  return found
}

/** The duration of a call of a model or tool: as reported, or since the call. */
const lastedOf = (event: KnownEvent, at: number, called: ReadonlyMap<string, number>): number | undefined => {
  if (event.type === "llm.call.completed") return event.data.latencyMs
  const times = event.type === "tool.completed" ? spanTimes(event) : undefined
  if (times !== undefined) return Date.parse(times.endedAt) - Date.parse(times.startedAt)
  const since = event.type === "tool.completed" ? called.get(event.data.toolCallId ?? "") : undefined
  return since === undefined ? undefined : at - since
}

const kindOf = (event: CanonicalEvent): LaneKind | undefined => {
  switch (event.type) {
    case "proposal.created":
      return "proposal"
    case "proposal.updated":
      if (event.data.messageType === "Evaluation") return "opinion"
      return event.data.messageType === "Objection" ? "objection" : "vote"
    case "decision.finalized":
      return "commitment"
    case "llm.call.completed":
      return "model"
    case "signal.emitted":
    case "progress.reported":
      return "other"
    case "tool.called":
    case "tool.completed":
      return "tool"
    default:
      return undefined
  }
}

/** The number of events in each of `columns` equal parts of each lane; `positions` are 0 to 1, in the same order. */
export const laneDensity = (
  lanes: ReadonlyArray<number | undefined>,
  positions: ReadonlyArray<number>,
  columns: number
): ReadonlyMap<number, ReadonlyArray<number>> => {
  const counts = new Map<number, Array<number>>()
  lanes.forEach((lane, at) => {
    if (lane === undefined) return
    const ofLane = counts.get(lane) ?? Array.from({ length: columns }, () => 0)
    counts.set(lane, ofLane)
    const column = Math.min(columns - 1, Math.max(0, Math.floor((positions[at] ?? 0) * columns)))
    ofLane[column] = (ofLane[column] ?? 0) + 1
  })
  return counts
}
