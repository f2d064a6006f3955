import {
  type AgUiFrame,
  type AgUiIds,
  type AgUiRun,
  type AskedItems,
  askedAfter,
  breakAgUi,
  type CanonicalEvent,
  cardLines,
  decodeEventText,
  emptyRunState,
  finishAgUi,
  interruptAgUi,
  isAgUiEnded,
  isAgUiInterrupted,
  isTerminal,
  openAgUi,
  type RunId,
  RunState,
  translateInSlices
} from "@runplane/domain"
import { ControlPlaneSettings, encodeFrames, inSlices, readSetting, type TurnRefused } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { SqlError } from "effect/sql/SqlError"
import { EventRepository, type StoredEvent } from "../../event-log/EventRepository.ts"
import { RunGone } from "../../event-log/runs/RunGone.ts"
import { readFor } from "../../platform/http/CurrentCaller.ts"
import { Decisions } from "../../queries/decisions/Decisions.ts"
import type { Delivery } from "../Delivery.ts"
import { ReplayStates } from "../replay/ReplayStates.ts"
import { RunStream } from "../run/RunStream.ts"
import { memoized } from "../SharedFrames.ts"
import type { SseConnection } from "../SseConnection.ts"
import { StreamReads } from "../StreamReads.ts"

export interface AgUiOptions extends AgUiIds {
  /** The client has the events up to this seq; 0 for none. */
  readonly since: number
  readonly heartbeatMs: number
  /** Whether an open question to a person ends the stream. */
  readonly interrupts: boolean
}

/**
 * Runs as event streams of AG-UI (docs/reference/ag-ui.md): the stream of the run, translated. So it has all events
 * once, in order, and a slow client holds one page and one state.
 */
export class AgUiStream extends Context.Service<
  AgUiStream,
  {
    /** Opens a stream for the lifetime of the scope. Fails when the run was deleted. */
    readonly open: (
      runId: RunId,
      options: AgUiOptions,
      connection: SseConnection
    ) => Effect.Effect<Stream.Stream<Uint8Array>, RunGone | SqlError | TurnRefused, Scope.Scope>
  }
>()("runplane/control-plane/AgUiStream") {
  static readonly layer = Layer.effect(
    AgUiStream,
    Effect.gen(function* () {
      const streams = yield* RunStream
      const replays = yield* ReplayStates
      const { states } = yield* StreamReads
      const decisions = yield* Decisions
      const events = yield* EventRepository
      const inbox = (yield* readSetting(ControlPlaneSettings.LAUNCHER_PUBLIC_URL))?.replace(/\/+$/, "")

      /** The questions to people that are open after an event. */
      const askedAt = Effect.fnUntraced(function* (runId: RunId, since: number, inTurn: ReturnType<typeof readFor>) {
        let asked: AskedItems = new Map()
        for (let afterSeq = 0; afterSeq < since; ) {
          const page = yield* inTurn(events.page(runId, { afterSeq, types: ["artifact.created"] }, ARTIFACTS))
          for (const event of decoded(page.events)) if (event.seq <= since) asked = askedAfter(asked, event)
          const last = page.events.at(-1)?.seq
          if (last === undefined || (page.events.length < ARTIFACTS && !page.isCut)) break
          afterSeq = last
        }
        return asked
      })

      /** The end of a stream. Without the card, which has a route of its own, the end is whole too. */
      const finished = (run: AgUiRun, runId: RunId) =>
        run.decision === undefined
          ? Effect.succeed(finishAgUi(run))
          : decisions.card(runId).pipe(
              Effect.map((card) => finishAgUi(run, cardLines(card))),
              Effect.catch((error) =>
                Effect.as(
                  Effect.logDebug("an AG-UI stream ends without the card of its decision", error),
                  finishAgUi(run)
                )
              )
            )

      const stateAt = Effect.fnUntraced(function* (runId: RunId, since: number) {
        if (since === 0) return emptyRunState(runId)
        const text = yield* replays.stateAt(runId, since)
        return text === undefined ? yield* new RunGone({ runId }) : yield* Effect.orDie(decodeState(text))
      })

      const open = Effect.fn("AgUiStream.open")(function* (
        runId: RunId,
        { heartbeatMs, interrupts, since, ...ids }: AgUiOptions,
        connection: SseConnection
      ) {
        const options = {
          afterSeq: since,
          includeSnapshot: false,
          snapshots: "first" as const,
          snapshotIntervalMs: 0,
          heartbeatMs
        }
        const deliveries = yield* streams.deliveries(runId, options, connection)
        // Read after the subscription: a run that ends later also ends its stream.
        const head = yield* readFor(connection)(states.head(runId))
        if (head === undefined) return yield* new RunGone({ runId })
        const asked = interrupts ? yield* askedAt(runId, since, readFor(connection)) : undefined
        const [run, frames] = openAgUi(ids, yield* stateAt(runId, since), asked)
        const first = framesOf(frames)
        if (since > head.lastSeq) return Stream.make(first, framesOf(reset(run)))
        const endSeq = isTerminal(head.status) ? head.lastSeq : Number.POSITIVE_INFINITY
        if (since >= endSeq) return Stream.make(first, framesOf(yield* finished(run, runId)))
        const interrupted = (now: AgUiRun, seq: number) =>
          interrupts && seq >= head.lastSeq && isAgUiInterrupted(now) ? interruptAgUi(now, inbox) : undefined
        const waits = interrupted(run, since)
        if (waits !== undefined) return Stream.make(first, framesOf(waits))
        const ends = { endSeq, finished: (ended: AgUiRun) => finished(ended, runId), interrupted }
        const rest = translated(deliveries, run, ends, readFor(connection))
        return Stream.onStart(Stream.concat(Stream.succeed(first), rest), connection.flushHeaders)
      })
      return AgUiStream.of({ open })
    })
  )
}

const decodeState = Schema.decodeUnknownEffect(Schema.fromJsonString(RunState))

/** Artifacts of one read. */
const ARTIFACTS = 500

interface StreamEnds {
  readonly endSeq: number
  readonly finished: (run: AgUiRun) => Effect.Effect<ReadonlyArray<AgUiFrame>>
  /** The end of a stream whose run waits for people after the event with this seq; undefined while it goes on. */
  readonly interrupted: (run: AgUiRun, seq: number) => ReadonlyArray<AgUiFrame> | undefined
}

/** Translates the deliveries of the stream of a run, up to one of its ends or to their end. */
const translated = (
  deliveries: Stream.Stream<Delivery, RunGone>,
  opened: AgUiRun,
  { endSeq, finished, interrupted }: StreamEnds,
  inTurnOfCaller: ReturnType<typeof readFor>
): Stream.Stream<Uint8Array> => {
  let run = opened
  let isOver = false
  const end = (frames: ReadonlyArray<AgUiFrame>) => {
    isOver = true
    return framesOf(frames)
  }
  const deleted = Stream.suspend(() => Stream.succeed(end(breakAgUi(run, "RUN_DELETED", "the run was deleted"))))
  // The stream of a running run ends with the run, or with this process.
  const last = Stream.suspend(() =>
    isOver
      ? Stream.empty
      : Stream.fromEffect(Effect.map(isAgUiEnded(run) ? finished(run) : Effect.succeed(stopped(run)), end))
  )
  return deliveries.pipe(
    Stream.mapEffect(
      Effect.fnUntraced(function* (delivery) {
        if (delivery._tag === "Reset") return end(reset(run))
        if (delivery._tag === "Heartbeat") return HEARTBEAT
        if (delivery._tag !== "Batch" && delivery._tag !== "Events") return NOTHING
        const { events } = delivery
        const [after, frames] = yield* inTurnOfCaller(inSlices(translateInSlices(run, decoded(events))))
        run = after
        const lastSeq = events.at(-1)?.seq ?? 0
        if (lastSeq >= endSeq) return end([...frames, ...(yield* finished(run))])
        const waits = interrupted(run, lastSeq)
        return waits === undefined ? framesOf(frames) : end([...frames, ...waits])
      })
    ),
    Stream.takeUntil(() => isOver),
    Stream.filter((each) => each.length > 0),
    Stream.catchTag("RunGone", () => deleted),
    Stream.concat(last)
  )
}

const reset = (run: AgUiRun) =>
  breakAgUi(run, "LOG_RESET", "the log of the run was restored from a backup and has lost events; connect again")

const stopped = (run: AgUiRun) =>
  breakAgUi(run, "SERVICE_STOPPING", "this process stops; connect again, with since, to continue")

/** A comment, which clients skip. */
const HEARTBEAT = encodeFrames(": heartbeat\n\n")

const framesOf = (frames: ReadonlyArray<AgUiFrame>): Uint8Array =>
  encodeFrames(...frames.map(({ json, seq }) => `${seq === undefined ? "" : `id: ${seq}\n`}data: ${json}\n\n`))

const NOTHING = new Uint8Array()

/** An event as it is stored becomes typed once, for all AG-UI streams that receive it. */
const typed = memoized((event: StoredEvent) => Result.getOrThrow(decodeEventText(event.json)))

/** The typed events, each when it is translated. */
function* decoded(events: ReadonlyArray<StoredEvent>): Iterable<CanonicalEvent> {
  for (const event of events) yield typed(event)
}
