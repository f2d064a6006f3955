import {
  type AgUiFrame,
  type AgUiIds,
  type AgUiRun,
  breakAgUi,
  type CanonicalEvent,
  decodeEventText,
  emptyRunState,
  finishAgUi,
  isAgUiEnded,
  isTerminal,
  openAgUi,
  type RunId,
  RunState,
  type Sliced,
  translateInSlices
} from "@runplane/domain"
import { inSlices, type TurnRefused } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Sse from "effect/encoding/Sse"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { SqlError } from "effect/sql/SqlError"
import { RunGone } from "../../event-log/runs/RunGone.ts"
import { readFor } from "../../platform/http/CurrentCaller.ts"
import { ReplayStates } from "../replay/ReplayStates.ts"
import { RunStream } from "../run/RunStream.ts"
import { encodeFrames, type SseConnection } from "../SseConnection.ts"
import { StreamReads } from "../StreamReads.ts"

export interface AgUiOptions extends AgUiIds {
  /** The client has the events up to this seq; 0 for none. */
  readonly since: number
  readonly heartbeatMs: number
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

      const stateAt = Effect.fnUntraced(function* (runId: RunId, since: number) {
        if (since === 0) return emptyRunState(runId)
        const text = yield* replays.stateAt(runId, since)
        return text === undefined ? yield* new RunGone({ runId }) : yield* Effect.orDie(decodeState(text))
      })

      const open = Effect.fn("AgUiStream.open")(function* (
        runId: RunId,
        { heartbeatMs, since, ...ids }: AgUiOptions,
        connection: SseConnection
      ) {
        const options = {
          afterSeq: since,
          includeSnapshot: false,
          snapshots: "first" as const,
          snapshotIntervalMs: 0,
          heartbeatMs
        }
        // This stream flushes the headers itself, and every frame passes the translation.
        const indirect = { ...connection, flushHeaders: Effect.void, tryWrite: () => false }
        const bytes = yield* streams.open(runId, options, indirect)
        // Read after the subscription: a run that ends later also ends its stream.
        const head = yield* readFor(connection)(states.head(runId))
        if (head === undefined) return yield* new RunGone({ runId })
        const [run, frames] = openAgUi(ids, yield* stateAt(runId, since))
        const first = framesOf(frames)
        if (since > head.lastSeq) return Stream.make(first, framesOf(reset(run)))
        const endSeq = isTerminal(head.status) ? head.lastSeq : Number.POSITIVE_INFINITY
        if (since >= endSeq) return Stream.make(first, framesOf(finishAgUi(run)))
        const rest = translated(bytes, run, endSeq, readFor(connection))
        return Stream.onStart(Stream.concat(Stream.succeed(first), rest), connection.flushHeaders)
      })
      return AgUiStream.of({ open })
    })
  )
}

const decodeState = Schema.decodeUnknownEffect(Schema.fromJsonString(RunState))

/** Translates the frames of the stream of a run, up to the event at `endSeq` or to their end. */
const translated = (
  bytes: Stream.Stream<Uint8Array, RunGone>,
  opened: AgUiRun,
  endSeq: number,
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
    isOver ? Stream.empty : Stream.succeed(end(isAgUiEnded(run) ? finishAgUi(run) : stopped(run)))
  )
  return bytes.pipe(
    Stream.mapEffect(
      Effect.fnUntraced(function* (chunk) {
        const step = yield* inTurnOfCaller(inSlices(translatedChunk(run, chunk)))
        const { events, frames, isBeating, isReset } = step
        run = step.run
        const lastSeq = events.at(-1)?.seq ?? 0
        if (isReset) return end([...frames, ...reset(run)])
        if (lastSeq >= endSeq) return end([...frames, ...finishAgUi(run)])
        return frames.length === 0 && isBeating ? HEARTBEAT : framesOf(frames)
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

interface Received {
  readonly events: ReadonlyArray<CanonicalEvent>
  readonly isBeating: boolean
  readonly isReset: boolean
}

interface TranslatedChunk {
  readonly run: AgUiRun
  readonly frames: ReadonlyArray<AgUiFrame>
}

/** The events of a chunk, which holds whole frames, and their translation. */
function* translatedChunk(before: AgUiRun, chunk: Uint8Array): Sliced<Received & TranslatedChunk> {
  const received = yield* readFrames(chunk)
  const [run, frames] = yield* translateInSlices(before, received.events)
  return { ...received, run, frames }
}

function* readFrames(chunk: Uint8Array): Sliced<Received> {
  const frames: Array<Sse.Event> = []
  const parser = Sse.makeParser((frame) => !Sse.Retry.is(frame) && frames.push(frame), UNBOUNDED)
  parser.feed(decoder.decode(chunk))
  const isNamed = (name: string) => frames.some(({ event }) => event === name)
  const events: Array<CanonicalEvent> = []
  for (const { data, event } of frames) {
    if (event !== "canonical_event") continue
    events.push(Result.getOrThrow(decodeEventText(data)))
    yield
  }
  return { events, isBeating: isNamed("heartbeat"), isReset: isNamed("reset") }
}

/** The log bounds its events itself. */
const UNBOUNDED = { maxEventSize: Number.POSITIVE_INFINITY }

const decoder = new TextDecoder()
