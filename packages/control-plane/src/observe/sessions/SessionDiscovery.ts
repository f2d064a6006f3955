import {
  cleanText,
  isUuidSessionId,
  type RunDescriptor,
  type RunId,
  runCreated,
  type SessionSnapshot
} from "@runplane/domain"
import { RuntimeClient } from "@runplane/runtime"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { EventLog } from "../../event-log/EventLog.ts"
import { newRun, storedDescriptor } from "../../event-log/runs/NewRun.ts"
import { DISCOVERY_SOURCE, RunRepository } from "../../event-log/runs/RunRepository.ts"
import { Ids } from "../../platform/Ids.ts"
import { DatabaseClock } from "../../platform/postgres/DatabaseClock.ts"
import { ObservedRuns } from "../ObservedRuns.ts"
import { ObserverSettings } from "../ObserverSettings.ts"
import { Observers } from "../Observers.ts"
import { isAway, outagePauses } from "../RetryOnOutage.ts"
import { makeExpectedSessions, type NoticedSession } from "./ExpectedSessions.ts"
import { isObservableSessionId, shownSessionId } from "./SessionIds.ts"

/** Time-to-live of a discovered session that does not tell its own, milliseconds, and the longest one told. */
const DEFAULT_TTL_MS = 300_000
const LONGEST_TTL_MS = Number.MAX_SAFE_INTEGER

/** Sessions of which it is remembered that they were refused. */
const REMEMBERED_REFUSALS = 1_000
/** Runs that are made at the same time; their appends share transactions. */
const MADE_AT_ONCE = 16

/** Turns sessions that no run knows into runs (docs/internals/runtime.md#discovery). */
export class SessionDiscovery extends Context.Service<
  SessionDiscovery,
  {
    /**
     * Lets a live session wait for its `POST /runs`, and then looks whether it needs a run. Waits while too many
     * sessions are expected, for as long as the database is away.
     */
    readonly expect: (session: SessionSnapshot) => Effect.Effect<void>
    /** Whether the session is being looked into. */
    readonly isExpected: (sessionId: string) => boolean
    /** Returns when the session is not looked into any more. */
    readonly settled: (sessionId: string) => Effect.Effect<void>
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
      const settings = yield* ObserverSettings

      const refused = new Set<string>()
      /** One line for a session: the watch tells of it again whenever it is opened anew. */
      const refuse = Effect.fnUntraced(function* (sessionId: string) {
        // What is shown of it is what is kept: the id itself may be as long as a message of the runtime.
        const shown = shownSessionId(sessionId)
        if (refused.has(shown)) return
        if (refused.size >= REMEMBERED_REFUSALS) refused.clear()
        refused.add(shown)
        yield* Effect.logWarning(`session ${shown} is not observed: no run can have such an id`)
      })

      /** A session's own run, or one beside that which has given up waiting for it: then with the same descriptor. */
      const describe = Effect.fnUntraced(function* (
        session: SessionSnapshot,
        late: RunId | undefined,
        noticed: string
      ) {
        const found = describeSession(session, runtime.kind, noticed)
        if (late === undefined) return found
        const earlier = yield* runs.find(late)
        const asked = earlier && storedDescriptor(earlier.record.metadata)
        return descriptorAfter(asked ?? found, found, late)
      })

      const make = Effect.fnUntraced(
        function* ({ noticedAt, session }: NoticedSession, late: RunId | undefined) {
          const { sessionId } = session
          const at = new Date(yield* Clock.currentTimeMillis).toISOString()
          const discoveredAt = clock.shift(new Date(noticedAt).toISOString())
          const run = newRun(yield* describe(session, late, discoveredAt), {
            id: late === undefined && isUuidSessionId(sessionId) ? sessionId : yield* ids.uuid,
            sessionId,
            traceId: yield* ids.traceId,
            spanId: yield* ids.spanId
          })
          const { id: runId, modeName, runtimeKind, traceId } = run
          yield* log.create({
            runId,
            insert: runs.insert(run, late),
            events: [runCreated({ ts: at, runId, traceId, modeName, runtimeKind, sessionId })]
          })
          yield* observers.adopt(runId)
          if (late === undefined) return
          yield* Effect.logInfo(
            `session ${shownSessionId(sessionId)} opened after run ${late} gave it up: run ${runId}`
          )
          // The run is made: what fails from here on must not make it again.
          yield* Effect.retry(runs.addMetadata(late, { laterRunId: runId }), { schedule: outagePauses, while: isAway })
        },
        (effect, { session: { sessionId } }) =>
          effect.pipe(
            Effect.retry({
              schedule: outagePauses,
              while: (error) => error._tag !== "RunAlreadyExists" && isAway(error)
            }),
            Effect.catchTag("RunAlreadyExists", () => Effect.void),
            // A failure for one session must not end the discovery; a later reconciliation looks again.
            Effect.catchCause((cause) =>
              Effect.logError(`could not make a run of session ${shownSessionId(sessionId)}`, cause)
            )
          )
      )

      /** Makes runs for those of the sessions that need one. */
      const discover = Effect.fn("SessionDiscovery.discover")(
        function* (sessions: ReadonlyArray<NoticedSession>) {
          const names = sessions.map(({ session }) => session.sessionId)
          const found = yield* known.ofSessions(names)
          const deleted = yield* known.deletedSessions(names.filter((name) => !found.has(name)))
          const missed = sessions.filter(({ session: { sessionId } }) =>
            found.has(sessionId) ? found.get(sessionId)?.hasTimedOut === true : !deleted.has(sessionId)
          )
          yield* Effect.forEach(missed, (one) => make(one, found.get(one.session.sessionId)?.runId), {
            concurrency: MADE_AT_ONCE,
            discard: true
          })
        },
        (effect, sessions) =>
          effect.pipe(
            Effect.retry({ schedule: outagePauses, while: isAway }),
            Effect.catchCause((cause) => Effect.logError(`could not look into ${sessions.length} sessions`, cause))
          )
      )

      const expected = yield* makeExpectedSessions({ graceMs: settings.discoveryGraceMs, discover })
      const expect = (session: SessionSnapshot) =>
        isObservableSessionId(session.sessionId) ? expected.add(session) : refuse(session.sessionId)
      return SessionDiscovery.of({ expect, isExpected: expected.has, settled: expected.settled })
    })
  )
}

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
    metadata: { source: DISCOVERY_SOURCE, discoveredAt, initiator: cleanText(session.initiator) }
  }
})

/**
 * What was asked for, now that its session has opened: it names the run that was not patient enough. The idempotency
 * key stays with that one.
 */
const descriptorAfter = (asked: RunDescriptor, found: RunDescriptor, earlierRunId: RunId): RunDescriptor => {
  const { idempotencyKey, ...execution } = asked.execution ?? {}
  const { source, ...discovered } = found.session.metadata ?? {}
  const metadata = { ...discovered, ...asked.session.metadata, earlierRunId }
  return { ...asked, session: { ...asked.session, metadata }, execution }
}
