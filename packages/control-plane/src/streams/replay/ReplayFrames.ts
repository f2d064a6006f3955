import type { ReplayMode } from "@runplane/api"
import type { RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { SqlError } from "effect/sql/SqlError"
import type { EventPage, StoredEvent } from "../../event-log/EventRepository.ts"
import { RunGone } from "../../event-log/runs/RunGone.ts"
import { canonicalEventFrame } from "../../event-log/subscribe/LiveBatch.ts"

export interface ReplayOptions {
  readonly mode: ReplayMode
  /** What the pauses of a timed replay are divided by. */
  readonly speed: number
  readonly runId: RunId
  /** Both inclusive; the log has an event at `toSeq` or behind it. */
  readonly fromSeq: number
  readonly toSeq: number
}

export interface ReplayLimits {
  /** Events read from the database at a time; fewer when they are large. */
  readonly batchSize: number
  /** Longest pause between two events, in milliseconds. */
  readonly maxDelayMs: number
}

const NO_EVENTS: Effect.Effect<Pick<EventPage, "events">> = Effect.succeed({ events: [] })

type ReadPage = (afterSeq: number, limit: number) => Effect.Effect<EventPage, SqlError>

/**
 * The SSE frames of a replay (docs/reference/http.md#replay): `canonical_event` frames alone, then the end. The next
 * page is read when the frames before it have been taken, so a replay of any length holds one page.
 */
export const replayFrames = (
  read: ReadPage,
  options: ReplayOptions,
  limits: ReplayLimits
): Stream.Stream<string, SqlError | RunGone> => {
  const { fromSeq, runId, toSeq } = options
  const pages = Stream.paginate(fromSeq - 1, (afterSeq) =>
    Effect.flatMap(afterSeq < toSeq ? read(afterSeq, limits.batchSize) : NO_EVENTS, ({ events }) => {
      const last = events.at(-1)?.seq ?? afterSeq
      // A log that ends before its end is the log of a run that is gone.
      if (last < toSeq && last === afterSeq) return Effect.fail(new RunGone({ runId }))
      const wanted = events.filter((event) => event.seq <= toSeq)
      return Effect.succeed([[wanted], last < toSeq ? Option.some(last) : Option.none<number>()] as const)
    })
  )
  if (options.mode !== "timed") {
    return pages.pipe(
      Stream.filter((page) => page.length > 0),
      Stream.map((page) => page.map(canonicalEventFrame).join(""))
    )
  }
  return pages.pipe(Stream.flatMap(Stream.fromIterable), paced(options.speed, limits.maxDelayMs))
}

/** Each event after the pause that lay between it and the one before, divided by the speed. */
const paced =
  (speed: number, maxDelayMs: number) =>
  <E>(events: Stream.Stream<StoredEvent, E>) =>
    Stream.suspend(() => {
      let before: number | undefined
      return Stream.mapEffect(events, (event) => {
        const at = millisOf(event)
        const pause = before === undefined ? 0 : Math.min(Math.max(at - before, 0) / speed, maxDelayMs)
        before = at
        const frame = canonicalEventFrame(event)
        return pause > 0 ? Effect.as(Effect.sleep(pause), frame) : Effect.succeed(frame)
      })
    })

const decodeTime = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ ts: Schema.String })))

const millisOf = ({ json }: StoredEvent): number => Date.parse(decodeTime(json).ts)
