import { ControlPlaneApi, type RunEventsQuery, runNotFound } from "@runplane/api"
import { isUuid, RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import { type EventFilter, EventRepository, type EventText } from "../../event-log/EventRepository.ts"
import { endOfReading } from "../../event-log/runs/RunGone.ts"
import { RunRepository } from "../../event-log/runs/RunRepository.ts"
import { jsonPages, type TextPage } from "../../platform/http/JsonAnswer.ts"
import { orUnavailable } from "../../platform/http/OutageAnswers.ts"

/** Events of one read, fewer when they are large; a longer response is sent in parts. */
export const EVENTS_PER_READ = 1_000

/**
 * `GET /runs/:id/events` (docs/reference/streams.md#list-events): a bare array, or an envelope as soon as a filter
 * other than afterSeq is given. The response contains the stored JSON of the events.
 */
export const EventsHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "events",
  Effect.fnUntraced(function* (handlers) {
    const events = yield* EventRepository
    const runs = yield* RunRepository

    const list = Effect.fnUntraced(function* (reference: string, query: RunEventsQuery) {
      const runId = isUuid(reference) ? RunId.make(reference) : yield* runs.resolve(reference)
      if (runId === undefined) return yield* runNotFound(reference)
      const filter = filterOf(query)
      const read = (from: EventFilter, limit: number) => events.text(runId, from, limit)
      const first = yield* read(filter, Math.min(query.limit, EVENTS_PER_READ))
      // A run has at least one event, so only an empty page needs a check that the run exists.
      if (first.count === 0 && (yield* events.head(runId)) === undefined) {
        return yield* runNotFound(reference)
      }
      const whole = () => endOfReading(runId, runs.status(runId))
      if (!isFiltered(query)) return jsonPages(eventAnswer(bareArray, filter, query.limit, first, read, whole))
      const total = yield* events.count(runId, filter)
      // The run was deleted between the two reads.
      if (total < first.count) return yield* runNotFound(reference)
      return jsonPages(eventAnswer(eventEnvelope(total, query.limit), filter, query.limit, first, read, whole))
    })

    return handlers.handle("list", ({ params, query }) => orUnavailable(list(params.id, query)))
  })
)

const filterOf = ({ afterSeq, afterTs, beforeTs, type }: RunEventsQuery): EventFilter => ({
  afterSeq,
  ...(afterTs !== undefined && { afterTs }),
  ...(beforeTs !== undefined && { beforeTs }),
  types: type ?? []
})

const isFiltered = ({ afterTs, beforeTs, type }: RunEventsQuery): boolean =>
  afterTs !== undefined || beforeTs !== undefined || (type !== undefined && type.length > 0)

/** The JSON around the events. */
interface Envelope {
  readonly before: string
  readonly after: (count: number, lastSeq: number | undefined) => string
}

const bareArray: Envelope = { before: "[", after: () => "]" }

/** `nextCursor` only on a full page. */
export const eventEnvelope = (total: number, limit: number): Envelope => ({
  before: `{"data":[`,
  after: (count, lastSeq) => {
    const cursor = count === limit && lastSeq !== undefined ? `,"nextCursor":${lastSeq}` : ""
    return `],"total":${total},"limit":${limit}${cursor}}`
  }
})

/**
 * A response of up to `limit` events: the first page, and others that are read as the client receives them. After the
 * last of several pages, `whole` checks their runs and their number, and fails when a run was deleted meanwhile
 * (docs/reference/http.md#deleted-while-read).
 */
export const eventAnswer = <Filter extends EventFilter, E>(
  envelope: Envelope,
  filter: Filter,
  limit: number,
  first: EventText,
  read: (filter: Filter, limit: number) => Effect.Effect<EventText, E>,
  whole: (runIds: ReadonlyArray<RunId>, count: number) => Effect.Effect<void, E>
): TextPage<E> => {
  type Sent = ReadonlyArray<ReadonlyArray<RunId>>
  const more = (before: number, sent: Sent, lastSeq: number): Effect.Effect<TextPage<E>, E> =>
    Effect.flatMap(read({ ...filter, afterSeq: lastSeq }, Math.min(limit - before, EVENTS_PER_READ)), (page) => {
      const next = piece(page, before, sent, lastSeq)
      if (next.next !== undefined) return Effect.succeed(next)
      return Effect.as(whole([...sent, page.runIds].flat(), before + page.count), next)
    })
  const piece = (page: EventText, before: number, sent: Sent, lastBefore: number | undefined): TextPage<E> => {
    const opening = before === 0 ? envelope.before : page.count === 0 ? "" : ","
    const text = opening + page.text
    const count = before + page.count
    const lastSeq = page.lastSeq ?? lastBefore
    const isEnd = !page.isCut && page.count < Math.min(limit - before, EVENTS_PER_READ)
    if (isEnd || count === limit || lastSeq === undefined) return { text: text + envelope.after(count, lastSeq) }
    return { text, next: more(count, [...sent, page.runIds], lastSeq) }
  }
  return piece(first, 0, [], undefined)
}
