import type { RunId } from "@runplane/domain"
import { retryHint, Shutdown } from "@runplane/server"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { SqlError } from "effect/sql/SqlError"
import { RunGone } from "../../event-log/runs/RunGone.ts"
import { LiveEvents } from "../../event-log/subscribe/LiveEvents.ts"
import type { Subscription } from "../../event-log/subscribe/Subscription.ts"
import { isUnreadArchive } from "../../platform/ArchiveUnread.ts"
import { readFor } from "../../platform/http/CurrentCaller.ts"
import { type Delivery, eventsDelivery } from "../Delivery.ts"
import { type FollowerSource, follow, neverReady, retried, type TrySend } from "../FollowerLoop.ts"
import { type Input, openRun, type RunOptions, type State } from "../FollowerState.ts"
import { detachedConnection, type SseConnection, writeShared } from "../SseConnection.ts"
import { sseBytes } from "../SseFrames.ts"
import { type RunReads, retries, StreamReads } from "../StreamReads.ts"

/** Events of a page, and fewer when they are large. */
export const BACKFILL_PAGE = 500

/**
 * The streams of runs, typed and as the bytes of SSE (docs/reference/streams.md#stream-end). A stream ends with its
 * run, on shutdown, or with its client.
 */
export class RunStream extends Context.Service<
  RunStream,
  {
    /**
     * Opens a stream for the lifetime of the scope, with every event that is committed from now on. It flushes the
     * headers, and returns the bytes that were not written to the socket directly. Fails when the run was deleted, and
     * when the archive cannot be read; the stream fails when the run is deleted before its end is sent.
     */
    readonly open: (
      runId: RunId,
      options: RunOptions,
      connection?: SseConnection
    ) => Effect.Effect<Stream.Stream<Uint8Array, RunGone>, RunGone | SqlError, Scope.Scope>
    /** The same stream before its encoding, whole: for an encoder of another protocol, which flushes the headers. */
    readonly deliveries: (
      runId: RunId,
      options: RunOptions,
      connection: SseConnection
    ) => Effect.Effect<Stream.Stream<Delivery, RunGone>, RunGone | SqlError, Scope.Scope>
  }
>()("runplane/control-plane/RunStream") {
  static readonly layer = Layer.effect(
    RunStream,
    Effect.gen(function* () {
      const { events, states } = yield* StreamReads
      const live = yield* LiveEvents
      const shutdown = yield* Shutdown

      const followRun = Effect.fnUntraced(function* (
        runId: RunId,
        options: RunOptions,
        connection: SseConnection,
        trySend: TrySend
      ) {
        // Subscribed before the state is read, so that no event falls between the two.
        const subscription = yield* live.subscribe(runId)
        const read = readFor(connection)
        const current = read(states.current(runId)).pipe(
          Effect.retry({ schedule: retries, while: (error) => !isUnreadArchive(error) }),
          Effect.catchIf((error) => !isUnreadArchive(error), Effect.die)
        )
        const found = Effect.filterOrFail(
          current,
          (state) => state !== undefined,
          () => new RunGone({ runId })
        )
        const start = yield* Effect.raceFirst(found, Effect.as(shutdown.begun, undefined))
        if (start === undefined) return Stream.empty
        const { position } = subscription
        const state = openRun(options, start, { now: yield* Clock.currentTimeMillis, position })
        const reads: RunReads = {
          events: { slice: (...of) => read(events.slice(...of)) },
          states: { current: (...of) => read(states.current(...of)), head: (...of) => read(states.head(...of)) }
        }
        const source = runSource(runId, subscription, reads, shutdown.begun)
        return Stream.fromPull(Effect.succeed(yield* follow(state, source, trySend)))
      })

      const open = (runId: RunId, options: RunOptions, connection: SseConnection = detachedConnection) =>
        Effect.map(followRun(runId, options, connection, writeShared(connection)), (stream) =>
          Stream.concat(Stream.onStart(Stream.map(stream, sseBytes), connection.flushHeaders), retryHint(shutdown))
        )
      const deliveries = (runId: RunId, options: RunOptions, connection: SseConnection) =>
        followRun(runId, options, connection, neverReady)
      return RunStream.of({ open, deliveries })
    })
  )
}

/** A run as the source of a stream: the subscription, and the pages, the head and the state of the database. */
export const runSource = (
  runId: RunId,
  subscription: Subscription,
  { events, states }: RunReads,
  ended: Effect.Effect<void>
): FollowerSource<never> => {
  const readPage = Effect.fnUntraced(function* ({ index, seq }: State, upToSeq: number | undefined) {
    const page = yield* events.slice(runId, { afterSeq: seq, ...(upToSeq !== undefined && { upToSeq }) }, BACKFILL_PAGE)
    const last = page.events.at(-1)
    const input: Input = {
      _tag: "Page",
      deliveries: last === undefined ? [] : [eventsDelivery(page.events)],
      seq: last?.seq ?? seq,
      index: last?.index ?? index,
      isLast: page.isLast
    }
    return input
  })
  const readHead = Effect.fnUntraced(function* ({ seq }: State) {
    const first = yield* states.head(runId)
    const head = first !== undefined && first.lastSeq < seq ? yield* states.head(runId) : first
    const input: Input = { _tag: "Head", head }
    return input
  })
  const readCurrent = Effect.gen(function* () {
    const input: Input = { _tag: "Current", current: yield* states.current(runId), now: yield* Clock.currentTimeMillis }
    return input
  })
  return {
    wakeup: subscription,
    take: () => subscription.poll(),
    read: (state, read) =>
      retried(
        read._tag === "ReadPage"
          ? readPage(state, read.upToSeq)
          : read._tag === "ReadHead"
            ? readHead(state)
            : readCurrent
      ),
    audience: () => subscription.audience,
    ended
  }
}
