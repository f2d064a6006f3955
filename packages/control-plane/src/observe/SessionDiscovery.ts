import {
  cleanText,
  isoTime,
  isUuidSessionId,
  type RunDescriptor,
  type RunId,
  runCreated,
  type SessionSnapshot
} from "@runplane/domain"
import { RuntimeClient, type RuntimeError } from "@runplane/runtime"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Semaphore from "effect/Semaphore"
import type { SqlError } from "effect/sql/SqlError"
import { EventLog } from "../event-log/EventLog.ts"
import { newRun, storedDescriptor } from "../event-log/runs/NewRun.ts"
import { DISCOVERY_SOURCE, RunRepository } from "../event-log/runs/RunRepository.ts"
import { Ids } from "../platform/Ids.ts"
import { isoNow } from "../platform/IsoNow.ts"
import { forever, roundGoesOn } from "../platform/loop/Forever.ts"
import { DatabaseClock } from "../platform/postgres/DatabaseClock.ts"
import { isTerminalSession } from "./decide/Action.ts"
import { type EndedSession, makeEndedSessions } from "./EndedSessions.ts"
import { ObservedRuns } from "./ObservedRuns.ts"
import { ObserverSettings } from "./ObserverSettings.ts"
import { Observers } from "./Observers.ts"
import { Placement } from "./placement/Placement.ts"
import { retryOnOutage } from "./retryOnOutage.ts"
import { isObservableSessionId, shownSessionId } from "./SessionIds.ts"
import { EarlySubscriptions } from "./sessions/EarlySubscriptions.ts"
import { SessionDirectory } from "./sessions/SessionDirectory.ts"

/** Time-to-live of a discovered session without one of its own, milliseconds, and the longest one. */
const DEFAULT_TTL_MS = 300_000
const LONGEST_TTL_MS = Number.MAX_SAFE_INTEGER

/** Refused session ids that are remembered. */
const REMEMBERED_REFUSALS = 1_000
/** Runs that are created at the same time; their appends share transactions. */
const CONCURRENT_CREATIONS = 16
/** Most bytes of all expected sessions, and the bytes of one beside its texts. */
const EXPECTED_BYTES = 16 * 1024 * 1024
const OVERHEAD_BYTES = 1_024
/** Sessions of one query. */
const BATCH = 200
/** From the election of this process to its first reconciliation. Milliseconds. */
const FIRST_DELAY_MS = 1_000
/** The first pause after a failed reconciliation. Milliseconds. */
const RETRY_MS = 10_000
/** A page may wait for the grace of its sessions, and for their runs. Milliseconds. */
const PAGE_LIMIT_MS = 600_000

/** A session without a run, and its first notice, Unix milliseconds. */
interface NoticedSession {
  readonly session: SessionSnapshot
  readonly noticedAt: number
}

interface Expected extends NoticedSession {
  readonly dueAt: number
  readonly bytes: number
  readonly settled: Deferred.Deferred<void>
}

/** Creates runs for sessions without one (docs/internals/runtime.md#discovery). */
export class SessionDiscovery extends Context.Service<
  SessionDiscovery,
  {
    /**
     * Creates a run for a live session when its `POST /runs` does not arrive within the grace. Waits while the expected
     * sessions use all their bytes, which happens while the database is away.
     */
    readonly expect: (session: SessionSnapshot) => Effect.Effect<void>
    /** Whether the discovery has not decided on the session yet. */
    readonly isExpected: (sessionId: string) => boolean
    /** Returns when the discovery has decided on the session. */
    readonly settled: (sessionId: string) => Effect.Effect<void>
    /**
     * Compares the listing of the runtime with the runs (docs/internals/runtime.md#reconciliation). Returns when the
     * discovery has decided on every live session without an observer, and has created the runs of the ended ones.
     */
    readonly reconcile: Effect.Effect<void, RuntimeError | SqlError>
  }
>()("runplane/control-plane/SessionDiscovery") {
  static readonly layer = Layer.effect(
    SessionDiscovery,
    Effect.gen(function* () {
      const known = yield* ObservedRuns
      const runs = yield* RunRepository
      const log = yield* EventLog
      const clock = yield* DatabaseClock
      const ids = yield* Ids
      const observers = yield* Observers
      const runtime = yield* RuntimeClient
      const directory = yield* SessionDirectory
      const { discoveryGraceMs, reconcileEndedMs } = yield* ObserverSettings

      const refused = new Set<string>()
      /** One line for a session, because each new watch reports it again. */
      const refuse = Effect.fnUntraced(function* (sessionId: string) {
        // The id itself may be as long as a message of the runtime.
        const shown = shownSessionId(sessionId)
        if (refused.has(shown)) return
        if (refused.size >= REMEMBERED_REFUSALS) refused.clear()
        refused.add(shown)
        yield* Effect.logWarning(`session ${shown} is not observed: a run cannot have such an id`)
      })

      /** The descriptor of the session's own run, or of a second run beside one that has timed out. */
      const describe = Effect.fnUntraced(function* (
        session: SessionSnapshot,
        timedOut: RunId | undefined,
        discoveredAt: string
      ) {
        const found = describeSession(session, runtime.kind, discoveredAt)
        if (timedOut === undefined) return found
        const earlier = yield* runs.find(timedOut)
        const requested = earlier && storedDescriptor(earlier.record.metadata)
        return descriptorAfter(requested ?? found, found, timedOut)
      })

      const create = Effect.fnUntraced(
        function* ({ noticedAt, session }: NoticedSession, timedOut: RunId | undefined) {
          const { sessionId } = session
          const at = yield* isoNow
          const discoveredAt = clock.shift(isoTime(noticedAt))
          const run = newRun(yield* describe(session, timedOut, discoveredAt), {
            id: timedOut === undefined && isUuidSessionId(sessionId) ? sessionId : yield* ids.uuid,
            sessionId,
            traceId: yield* ids.traceId,
            spanId: yield* ids.spanId
          })
          const { id: runId, modeName, runtimeKind, traceId } = run
          yield* log.create({
            runId,
            insert: runs.insert(run, timedOut),
            events: [runCreated({ ts: at, runId, traceId, modeName, runtimeKind, sessionId })]
          })
          yield* observers.adopt(runId)
          if (timedOut === undefined) return runId
          yield* Effect.logInfo(
            `session ${shownSessionId(sessionId)} opened after run ${timedOut} failed: run ${runId}`
          )
          // The run exists: a failure from here on must not create it again.
          yield* retryOnOutage(runs.addMetadata(timedOut, { laterRunId: runId }))
          return runId
        },
        (effect, { session: { sessionId } }) =>
          effect.pipe(
            retryOnOutage,
            Effect.catchTag("RunAlreadyExists", () => Effect.succeed(undefined)),
            // A failure for one session must not end the discovery; the next reconciliation tries it again.
            Effect.catchCause((cause) =>
              Effect.as(
                Effect.logError(`could not create a run of session ${shownSessionId(sessionId)}`, cause),
                undefined
              )
            )
          )
      )

      /** Creates the missing runs of the sessions. */
      const discover = Effect.fn("SessionDiscovery.discover")(
        function* (sessions: ReadonlyArray<NoticedSession>) {
          const names = sessions.map(({ session }) => session.sessionId)
          const found = yield* known.ofSessions(names)
          const deleted = yield* known.deletedSessions(names.filter((name) => !found.has(name)))
          const missed = sessions.filter(({ session: { sessionId } }) =>
            found.has(sessionId) ? found.get(sessionId)?.hasTimedOut === true : !deleted.has(sessionId)
          )
          yield* Effect.forEach(missed, (noticed) => create(noticed, found.get(noticed.session.sessionId)?.runId), {
            concurrency: CONCURRENT_CREATIONS,
            discard: true
          })
        },
        (effect, sessions) =>
          effect.pipe(
            retryOnOutage,
            Effect.catchCause((cause) => Effect.logError(`could not discover ${sessions.length} sessions`, cause))
          )
      )

      /** In the order of their due times, because all have the same grace. */
      const expected = new Map<string, Expected>()
      const capacity = yield* Semaphore.make(EXPECTED_BYTES)
      const signal = yield* Queue.sliding<void>(1)

      const expect = Effect.fnUntraced(function* (session: SessionSnapshot) {
        const { sessionId } = session
        if (!isObservableSessionId(sessionId)) return yield* refuse(sessionId)
        if (expected.has(sessionId)) return
        const bytes = Math.min(sizeOf(session), EXPECTED_BYTES)
        yield* capacity.take(bytes)
        const noticedAt = yield* Clock.currentTimeMillis
        const settled = yield* Deferred.make<void>()
        if (expected.has(sessionId)) return yield* capacity.release(bytes)
        expected.set(sessionId, { session, noticedAt, dueAt: noticedAt + discoveryGraceMs, bytes, settled })
        Queue.offerUnsafe(signal, undefined)
      })

      const settle = Effect.fnUntraced(function* (batch: ReadonlyArray<Expected>) {
        for (const { bytes, session, settled } of batch) {
          expected.delete(session.sessionId)
          yield* capacity.release(bytes)
          yield* Deferred.succeed(settled, undefined)
        }
      })

      const discoverNext = Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        const batch: Array<Expected> = []
        for (const one of expected.values()) {
          if (one.dueAt > now || batch.length === BATCH) break
          batch.push(one)
        }
        if (batch.length > 0) yield* Effect.ensuring(discover(batch), settle(batch))
        const [next] = expected.values()
        if (next === undefined) return { pauseMs: Number.POSITIVE_INFINITY }
        return { pauseMs: Math.max(0, next.dueAt - (yield* Clock.currentTimeMillis)) }
      })
      yield* Effect.forkScoped(forever("session-discovery", discoverNext, { wake: Queue.take(signal) }))

      const settled = (sessionId: string) =>
        Effect.suspend(() => {
          const one = expected.get(sessionId)
          return one === undefined ? Effect.void : Deferred.await(one.settled)
        })

      const endedSessions = makeEndedSessions({
        known,
        sizeOf,
        windowMs: reconcileEndedMs,
        concurrency: CONCURRENT_CREATIONS,
        create: ({ session, timedOut }: EndedSession) =>
          Effect.flatMap(Clock.currentTimeMillis, (noticedAt) => create({ session, noticedAt }, timedOut))
      })

      const reconcile = Effect.gen(function* () {
        const ended = endedSessions(yield* Clock.currentTimeMillis)
        const compare = Effect.fnUntraced(function* (page: ReadonlyArray<SessionSnapshot>) {
          const missed = page.filter((session) => isLive(session) && !directory.isObserved(session.sessionId))
          yield* Effect.forEach(missed, expect, { discard: true })
          yield* Effect.forEach(missed, ({ sessionId }) => settled(sessionId), { discard: true })
          const unobserved = page.filter(({ sessionId }) => !directory.isObserved(sessionId))
          yield* Effect.orDie(retryOnOutage(ended.compare(unobserved)))
          yield* roundGoesOn
          return "more" as const
        })
        // A page waits for as long as the database is away, so the listing has no timeout.
        if (!(yield* directory.list(compare, Number.POSITIVE_INFINITY))) {
          const { maxPages } = runtime.listing
          yield* Effect.logWarning(`the runtime has more sessions than ${maxPages} pages: not all were compared`)
        }
        yield* ended.adopt
      }).pipe(Effect.withSpan("SessionDiscovery.reconcile"))

      return SessionDiscovery.of({ expect, isExpected: (sessionId) => expected.has(sessionId), settled, reconcile })
    })
  )

  /**
   * Starts the watch of all sessions. Early subscriptions and, where it is enabled, the discovery receive the sessions
   * without an observer.
   */
  static readonly layerWatch = Layer.effectDiscard(
    Effect.gen(function* () {
      const { discoveryEnabled } = yield* ObserverSettings
      const { watch } = yield* SessionDirectory
      const { expect } = yield* SessionDiscovery
      const early = yield* EarlySubscriptions
      yield* Effect.forkScoped(
        watch({
          opened: early.open,
          unobserved: ({ snapshot, state, type }) => {
            if (type !== "CREATED") return Effect.sync(() => early.update(snapshot.sessionId, { state, snapshot }))
            // The runtime may end a watch that waits here; the next one reports all sessions.
            return discoveryEnabled && isLive({ state }) ? expect(snapshot) : Effect.void
          }
        })
      )
    })
  )

  /**
   * Reconciles soon after the start and then every SESSION_RECONCILE_INTERVAL_MS, in one process of all; sooner after a
   * failure.
   */
  static readonly layerReconciled = Layer.effectDiscard(
    Effect.gen(function* () {
      const { discoveryEnabled, reconcileIntervalMs } = yield* ObserverSettings
      if (!discoveryEnabled || reconcileIntervalMs === 0) return
      const { reconcile } = yield* SessionDiscovery
      const placement = yield* Placement
      const every = reconcileIntervalMs
      const backoff = { firstMs: Math.min(RETRY_MS, every), longestMs: every }
      yield* placement.singleton(
        "reconciliation",
        forever("session-reconciliation", reconcile, { first: FIRST_DELAY_MS, every, backoff, limitMs: PAGE_LIMIT_MS })
      )
    })
  )
}

const isLive = ({ state }: Pick<SessionSnapshot, "state">): boolean => state === "OPEN" || state === "SUSPENDED"

const sizeOf = ({ sessionId, mode, initiator, participants, extensionKeys, contextId }: SessionSnapshot): number =>
  [sessionId, mode, initiator, contextId, ...participants, ...extensionKeys].reduce(
    (sum, text) => sum + 2 * text.length + 16,
    OVERHEAD_BYTES
  )

const describeSession = (session: SessionSnapshot, runtimeKind: string, discoveredAt: string): RunDescriptor => ({
  mode: "live",
  runtime: { kind: runtimeKind },
  session: {
    sessionId: session.sessionId,
    modeName: cleanText(session.mode),
    modeVersion: cleanText(session.modeVersion) || "1.0.0",
    configurationVersion: cleanText(session.configurationVersion) || "config.default",
    ...(session.policyVersion === "" ? {} : { policyVersion: cleanText(session.policyVersion) }),
    ttlMs: Math.min(
      session.expiresAtUnixMs > session.startedAtUnixMs
        ? session.expiresAtUnixMs - session.startedAtUnixMs
        : DEFAULT_TTL_MS,
      LONGEST_TTL_MS
    ),
    participants: session.participants.map((id) => ({ id: cleanText(id) })),
    metadata: {
      source: DISCOVERY_SOURCE,
      discoveredAt,
      // The signals of an ended session, its pauses and its reasons are gone.
      ...(isTerminalSession(session.state) && { discoveredState: session.state }),
      initiator: cleanText(session.initiator)
    }
  }
})

/** The descriptor of the run that has timed out, with its id; the idempotency key stays with that run. */
const descriptorAfter = (requested: RunDescriptor, found: RunDescriptor, earlierRunId: RunId): RunDescriptor => {
  const { idempotencyKey, ...execution } = requested.execution ?? {}
  const { source, ...discovered } = found.session.metadata ?? {}
  const metadata = { ...discovered, ...requested.session.metadata, earlierRunId }
  return { ...requested, session: { ...requested.session, metadata }, execution }
}
