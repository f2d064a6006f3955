import { type Artifact, isArtifactKind } from "@runplane/api"
import { decodeEventText, type RunId, storedSalts } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import {
  type EventFilter,
  type EventPageOfRuns,
  EventRepository,
  type EventSlice,
  eventText,
  type SaltedEvent,
  type SaltedSlice,
  type StoredEvent
} from "../../../event-log/EventRepository.ts"
import { ArtifactRepository, type ArtifactText } from "../../../event-log/runs/ArtifactRepository.ts"
import { READ_BYTES } from "../../../platform/postgres/BoundedRows.ts"
import { type ColdHead, ColdLog, type FiledEvent } from "./ColdLog.ts"
import { orCold } from "./OrCold.ts"

/** The next events of a run that match, at most `limit`, and of about `mostBytes`. */
const matching = Effect.fnUntraced(function* (
  log: ColdLog["Service"],
  head: ColdHead,
  { afterSeq, limit, mostBytes }: { readonly afterSeq: number; readonly limit: number; readonly mostBytes: number },
  matches: (event: FiledEvent) => boolean
) {
  const events: Array<SaltedEvent> = []
  let bytes = 0
  let position = afterSeq
  while (events.length < limit) {
    const segment = yield* log.events(head, position)
    if (segment.length === 0) return { events, isCut: false }
    for (const event of segment) {
      position = event.seq
      if (!matches(event)) continue
      if (events.length === limit) return { events, isCut: false }
      if (events.length > 0 && bytes + event.event.length > mostBytes) return { events, isCut: true }
      events.push({ seq: event.seq, index: event.index, json: event.event, salts: storedSalts(event.salts) })
      bytes += event.event.length
    }
  }
  return { events, isCut: false }
})

const withoutSalts = ({ index, json, seq }: SaltedEvent): StoredEvent => ({ seq, index, json })

const filterOf = ({ afterTs, beforeTs, types }: EventFilter) => {
  const from = afterTs === undefined ? Number.NEGATIVE_INFINITY : Date.parse(afterTs)
  const before = beforeTs === undefined ? Number.POSITIVE_INFINITY : Date.parse(beforeTs)
  const wanted = new Set(types)
  return ({ ts, type }: FiledEvent) => ts >= from && ts < before && (wanted.size === 0 || wanted.has(type))
}

/** The log of a run, in the database or in files. */
export const layerColdEvents = Layer.effect(
  EventRepository,
  Effect.gen(function* () {
    const stored = yield* EventRepository
    const log = yield* ColdLog

    const coldPage = Effect.fnUntraced(function* (head: ColdHead, filter: EventFilter, limit: number) {
      const given = { afterSeq: filter.afterSeq, limit, mostBytes: READ_BYTES }
      const { events, isCut } = yield* matching(log, head, given, filterOf(filter))
      const page: EventPageOfRuns = {
        events: events.map(withoutSalts),
        isCut,
        runIds: events.length === 0 ? [] : [head.runId]
      }
      return page
    })
    /** Only a read without an event can be of a run that has left the database. */
    const orFiled = <A, E>(runId: RunId, read: A, isEmpty: boolean, filed: (head: ColdHead) => Effect.Effect<A, E>) =>
      isEmpty
        ? Effect.flatMap(log.head(runId), (head) => (head === undefined ? Effect.succeed(read) : filed(head)))
        : Effect.succeed(read)

    const slice: EventRepository["Service"]["slice"] = Effect.fnUntraced(function* (
      runId,
      { afterSeq, upToSeq = Number.MAX_SAFE_INTEGER },
      limit,
      mostBytes = READ_BYTES
    ) {
      const read = yield* stored.slice(runId, { afterSeq, upToSeq }, limit, mostBytes)
      return yield* orFiled(
        runId,
        read,
        read.events.length === 0,
        Effect.fnUntraced(function* (head) {
          const given = { afterSeq, limit, mostBytes }
          const { events } = yield* matching(log, head, given, ({ seq }) => seq <= upToSeq)
          const last = events.at(-1)
          const slice: EventSlice = {
            events: events.map(withoutSalts),
            isLast: last === undefined || last.seq >= Math.min(upToSeq, head.lastSeq)
          }
          return slice
        })
      )
    })
    const salted = Effect.fnUntraced(function* (runId: RunId, afterSeq: number, limit: number) {
      const read = yield* stored.salted(runId, afterSeq, limit)
      return yield* orFiled(
        runId,
        read,
        read.events.length === 0,
        Effect.fnUntraced(function* (head) {
          const { events } = yield* matching(log, head, { afterSeq, limit, mostBytes: READ_BYTES }, () => true)
          const slice: SaltedSlice = { events, isLast: (events.at(-1)?.seq ?? head.lastSeq) >= head.lastSeq }
          return slice
        })
      )
    })
    return EventRepository.of({
      slice,
      salted,
      page: (runId, filter, limit) =>
        Effect.flatMap(stored.page(runId, filter, limit), (page) =>
          orFiled(runId, page, page.events.length === 0, (head) => coldPage(head, filter, limit))
        ),
      text: (runId, filter, limit) =>
        Effect.flatMap(stored.text(runId, filter, limit), (text) =>
          orFiled(runId, text, text.count === 0, (head) => Effect.map(coldPage(head, filter, limit), eventText))
        ),
      count: (runId, filter) =>
        Effect.flatMap(stored.count(runId, filter), (count) =>
          orFiled(
            runId,
            count,
            count === 0,
            Effect.fnUntraced(function* (head) {
              const matches = filterOf(filter)
              let total = 0
              let segment = yield* log.events(head, filter.afterSeq)
              while (segment.length > 0) {
                total += segment.filter(matches).length
                segment = yield* log.events(head, segment.at(-1)?.seq ?? head.lastSeq)
              }
              return total
            })
          )
        ),
      head: (runId) =>
        orCold(stored.head(runId), log.head(runId), (head) =>
          Effect.succeed({ lastSeq: head.lastSeq, lastIndex: head.lastIndex, cursor: 0 })
        ),
      firstSeq: (runId) => orCold(stored.firstSeq(runId), log.head(runId), ({ firstSeq }) => Effect.succeed(firstSeq))
    })
  })
)

/** The artifact of an event `artifact.created`, without its content; undefined for an event of a later version. */
const artifactText = (runId: RunId, { json, seq }: StoredEvent): ArtifactText | undefined => {
  const event = Result.getOrUndefined(decodeEventText(json))
  if (event?.type !== "artifact.created") return undefined
  const { artifactId: id, contentSha256, kind, label = "", uri } = event.data
  if (kind === undefined || !isArtifactKind(kind)) return undefined
  const artifact: Artifact = {
    ...{ id, runId, kind, label },
    ...(uri !== undefined && { uri }),
    ...(contentSha256 !== undefined && { inlineOmitted: true }),
    createdAt: event.ts
  }
  return { createdAt: event.ts, ordinal: BigInt(seq), json: JSON.stringify(artifact) }
}

/** Artifacts as the events name them: the archive does not have their contents. */
export const layerColdArtifacts = Layer.effect(
  ArtifactRepository,
  Effect.gen(function* () {
    const stored = yield* ArtifactRepository
    const log = yield* ColdLog
    const page: ArtifactRepository["Service"]["page"] = Effect.fnUntraced(function* (runId, after, limit) {
      const read = yield* stored.page(runId, after, limit)
      const head = read.rows.length > 0 ? undefined : yield* log.head(runId)
      if (head === undefined) return read
      const given = { afterSeq: Number(after?.ordinal ?? 0n), limit, mostBytes: READ_BYTES }
      const { events, isCut } = yield* matching(log, head, given, ({ type }) => type === "artifact.created")
      return { rows: events.flatMap((event) => artifactText(runId, event) ?? []), taken: events.length, isCut }
    })
    return ArtifactRepository.of({ ...stored, page })
  })
)
