import { decodeEvent, projectAll, type RunState } from "@runplane/domain"
import * as Result from "effect/Result"
import type { Page } from "playwright-core"
import { ask, CONTROL_PLANE } from "./Stage.ts"

/** An event as the service answers it. */
export interface Recorded {
  readonly index: number
  readonly seq: number
  readonly type: string
  readonly ts: string
  readonly data: Readonly<Record<string, unknown>>
}

/** What is between two events of a run that is made up, milliseconds. */
const STEP_MS = 20

/** The events of a run as the service has them, at most 1,000. */
export const recordedEvents = async (runId: string): Promise<ReadonlyArray<Recorded>> =>
  (await ask("GET", `${CONTROL_PLANE}/runs/${runId}/events?limit=1000`)).body

/** Events in this order, numbered and timed anew. */
export const numbered = (events: ReadonlyArray<Recorded>) => {
  const start = Date.parse(events[0]?.ts ?? "")
  return events.map((event, at) => ({
    ...event,
    id: crypto.randomUUID(),
    index: at + 1,
    seq: at + 1,
    ts: new Date(start + at * STEP_MS).toISOString()
  }))
}

/** The state that the projector makes of events. */
export const projected = (runId: string, events: ReadonlyArray<Recorded>): RunState =>
  projectAll(
    runId,
    events.map((event) => Result.getOrThrow(decodeEvent(event)))
  )

/** Serves a page these events as those of a run, with the state that the projector makes of them. */
export const serveRun = async (
  page: Page,
  runId: string,
  given: ReadonlyArray<Recorded>,
  fields: Readonly<Record<string, unknown>> = {}
): Promise<void> => {
  const events = numbered(given)
  const state = projected(runId, events)
  const frames = [
    `event: snapshot\ndata: ${JSON.stringify(state)}\n\n`,
    ...events.map((event) => `event: canonical_event\nid: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`)
  ]
  const { body } = await ask("GET", `${CONTROL_PLANE}/runs/${runId}`)
  const run = { ...body, ...fields, lastEventIndex: events.length, lastEventSeq: events.length }
  await page.route(`${CONTROL_PLANE}/runs/${runId}`, (route) => route.fulfill({ json: run }))
  await page.route(`${CONTROL_PLANE}/runs/${runId}/stream*`, (route) =>
    route.fulfill({ contentType: "text/event-stream", body: frames.join("") })
  )
  // The page reads what follows the end of a run.
  await page.route(`${CONTROL_PLANE}/runs/${runId}/events?*`, (route) => {
    const { searchParams } = new URL(route.request().url())
    const [after, limit] = [Number(searchParams.get("afterSeq")), Number(searchParams.get("limit"))]
    return route.fulfill({ json: events.slice(after, after + limit) })
  })
}

/** The events of a run up to its end, and its end. */
const split = (events: ReadonlyArray<Recorded>): readonly [ReadonlyArray<Recorded>, Recorded] => {
  const end = events.findIndex(({ type }) => type === "run.completed")
  const last = events[end]
  if (last === undefined) throw new Error("the run has not completed")
  return [events.slice(0, end), last]
}

/** The run made so many events long: its own messages over and over. */
export const longRun = (events: ReadonlyArray<Recorded>, count: number): ReadonlyArray<Recorded> => {
  const [begin, end] = split(events)
  const middle = begin.filter(({ type }) => type === "message.received" || type === "proposal.updated")
  const long = Array.from({ length: count - 1 }, (_, at) => begin[at] ?? middle[at % middle.length] ?? end)
  return [...long, end]
}

/** The run with these participants beside its own, each of which votes in the end. */
export const crowdedRun = (
  events: ReadonlyArray<Recorded>,
  participants: ReadonlyArray<string>
): ReadonlyArray<Recorded> => {
  const [begin, end] = split(events)
  const vote = begin.findLast(({ data, type }) => type === "proposal.updated" && data["messageType"] === "Vote")
  const seen = begin.find(({ type }) => type === "participant.seen")
  if (vote === undefined || seen === undefined) throw new Error("the run has no votes")
  const start = begin.indexOf(seen)
  const arrivals = participants.map((participantId) => ({
    ...seen,
    subject: { kind: "participant", id: participantId },
    data: { participantId, status: "idle" }
  }))
  const votes = participants.map((sender, at) => ({
    ...vote,
    data: { ...vote.data, messageId: crypto.randomUUID(), sender, decodedPayload: voteOf(vote, sender, at) }
  }))
  const decision = begin.findIndex(({ type }) => type === "decision.finalized")
  const spoken = [...begin.slice(start, decision), ...votes, ...begin.slice(decision)]
  return [...begin.slice(0, start), ...arrivals, ...spoken, end].map((event) => bindTo(event, participants))
}

/** The run with these calls of language models instead of its own: the sender of each, and its payload. */
export const spendingRun = (
  events: ReadonlyArray<Recorded>,
  calls: ReadonlyArray<readonly [sender: string, payload: Readonly<Record<string, unknown>>]>
): ReadonlyArray<Recorded> => {
  const [begin, end] = split(events)
  const own = begin.find(({ type }) => type === "llm.call.completed")
  if (own === undefined) throw new Error("the run has no calls")
  const at = begin.indexOf(own)
  const others = (part: ReadonlyArray<Recorded>) => part.filter(({ type }) => type !== "llm.call.completed")
  const made = calls.map(([sender, decodedPayload]) => ({
    ...own,
    data: { ...own.data, messageId: crypto.randomUUID(), sender, decodedPayload }
  }))
  return [...others(begin.slice(0, at)), ...made, ...others(begin.slice(at)), end]
}

const bindTo = (event: Recorded, others: ReadonlyArray<string>): Recorded => {
  const { participants, payload } = event.data
  if (Array.isArray(participants)) {
    return { ...event, data: { ...event.data, participants: [...participants, ...others] } }
  }
  const invited: unknown = Object(payload).participants
  if (!Array.isArray(invited)) return event
  return { ...event, data: { ...event.data, payload: { ...Object(payload), participants: [...invited, ...others] } } }
}

const voteOf = ({ data }: Recorded, sender: string, at: number) => ({
  ...Object(data["decodedPayload"]),
  vote: at % 3 === 0 ? "REJECT" : "APPROVE",
  reason: `says ${sender}`
})

/** The run with a payload of so many bytes in the last vote; answers its events and the index of that one. */
export const heavyRun = (
  events: ReadonlyArray<Recorded>,
  bytes: number
): { readonly events: ReadonlyArray<Recorded>; readonly index: number } => {
  const at = events.findLastIndex(({ data, type }) => type === "proposal.updated" && data["messageType"] === "Vote")
  const heavy = (event: Recorded): Recorded => {
    const payload = { ...Object(event.data["decodedPayload"]), reason: "much to say ".repeat(bytes / 12) }
    return { ...event, data: { ...event.data, decodedPayload: payload } }
  }
  return { events: events.map((event, position) => (position === at ? heavy(event) : event)), index: at + 1 }
}
