import { describeSqlError } from "@runplane/database"
import { isoTime, isTerminal, type RunId, type SessionSnapshot } from "@runplane/domain"
import { roundGoesOn } from "@runplane/server"
import * as Effect from "effect/Effect"
import { isTerminalSession } from "./decide/Action.ts"
import type { ObservedRuns } from "./ObservedRuns.ts"
import { retryOnOutage } from "./retryOnOutage.ts"
import { isObservableSessionId } from "./SessionIds.ts"

/** Most ended sessions of one reconciliation, and most bytes of them; the next one takes further ones. */
const MOST_SESSIONS = 1_000
const MOST_BYTES = 4 * 1024 * 1024
/** Runs whose histories are read at the same time. */
const BATCH = 50
/** How often a batch is checked for its ends, and for how long: a slow history must not keep the others waiting. */
const CHECK_MS = 500
const PATIENCE_MS = 30_000

/** An ended session that needs a run, and the run that has timed out before the session opened, if there is one. */
export interface EndedSession {
  readonly session: SessionSnapshot
  readonly timedOut: RunId | undefined
}

interface EndedSessionsOptions {
  readonly known: Pick<ObservedRuns["Service"], "deletedSessions" | "ofSessions" | "statuses">
  /** How long ago a session may have begun, milliseconds; 0: no ended session gets a run. */
  readonly windowMs: number
  readonly sizeOf: (session: SessionSnapshot) => number
  /** Creates the run; its id, or undefined when the session has one by then. */
  readonly create: (ended: EndedSession) => Effect.Effect<RunId | undefined>
  readonly concurrency: number
}

/** The ended sessions of one listing. */
export interface EndedSessions {
  readonly compare: (page: ReadonlyArray<SessionSnapshot>) => Effect.Effect<void>
  /** Creates the missing runs in order of the sessions' starts, and returns their number. */
  readonly adopt: Effect.Effect<number>
}

/**
 * Sessions that began and ended while no process watched, as after a restored backup
 * (docs/internals/runtime.md#ended-sessions). Bounded in number and bytes: live sessions of later pages do not wait for
 * them, and their histories are read a few at a time.
 */
export const makeEndedSessions = (options: EndedSessionsOptions) => {
  const { concurrency, create, known, sizeOf, windowMs } = options
  let isFirst = true

  /** The sessions without a run that was not deleted on purpose. */
  const missing = Effect.fnUntraced(function* (sessions: ReadonlyArray<SessionSnapshot>) {
    const names = sessions.map(({ sessionId }) => sessionId)
    const found = yield* known.ofSessions(names)
    const candidates = sessions.filter(({ sessionId }) => found.get(sessionId)?.hasTimedOut !== false)
    // Also where the run that timed out is left: the run of its session may be deleted.
    const deleted = yield* known.deletedSessions(candidates.map(({ sessionId }) => sessionId))
    return candidates.flatMap(
      (session): ReadonlyArray<EndedSession> =>
        deleted.has(session.sessionId) ? [] : [{ session, timedOut: found.get(session.sessionId)?.runId }]
    )
  }, retryOnOutage)

  /** Waits until the batch has been read, or for its time. */
  const settled = (runIds: ReadonlyArray<RunId>) =>
    known.statuses(runIds).pipe(
      retryOnOutage,
      Effect.map((statuses) => runIds.every((runId) => isTerminal(statuses.get(runId) ?? "failed"))),
      Effect.delay(CHECK_MS),
      Effect.repeat({ until: (done) => done }),
      Effect.timeoutOption(PATIENCE_MS),
      Effect.catchCause((cause) => Effect.logWarning("cannot read whether adopted sessions were read", cause))
    )

  return (now: number): EndedSessions => {
    const found: Array<EndedSession> = []
    const isWhole = isFirst
    let bytes = 0
    let later = 0
    let older = 0

    const compare = Effect.fnUntraced(
      function* (page: ReadonlyArray<SessionSnapshot>) {
        if (windowMs === 0) return
        const ended = page.filter(
          ({ sessionId, state }) => isTerminalSession(state) && isObservableSessionId(sessionId)
        )
        const isRecent = ({ startedAtUnixMs }: SessionSnapshot) => startedAtUnixMs >= now - windowMs
        // The older ones are counted once a process, for its log.
        const wanted = ended.filter((session) => isWhole || isRecent(session))
        for (const one of wanted.length === 0 ? [] : yield* missing(wanted)) {
          if (!isRecent(one.session)) older++
          else if (found.length < MOST_SESSIONS && bytes + sizeOf(one.session) <= MOST_BYTES) {
            found.push(one)
            bytes += sizeOf(one.session)
          } else later++
        }
      },
      // The live sessions of the page have their runs; the next reconciliation compares again.
      Effect.catch((error) =>
        Effect.logWarning(`cannot compare ended sessions with the runs: ${describeSqlError(error)}`)
      )
    )

    const adopt = Effect.gen(function* () {
      isFirst = false
      if (older > 0) {
        yield* Effect.logInfo(
          `${older} ended sessions that began before ${isoTime(now - windowMs)} have no run and get none ` +
            "(SESSION_RECONCILE_ENDED_MS)"
        )
      }
      found.sort((left, right) => left.session.startedAtUnixMs - right.session.startedAtUnixMs)
      if (found.length > 0) {
        yield* Effect.logInfo(
          `${found.length} ended sessions of the runtime have no run: their histories are read` +
            (later === 0 ? "" : `; ${later} more wait for the next reconciliation`)
        )
      }
      let adopted = 0
      for (let from = 0; from < found.length; from += BATCH) {
        const created = yield* Effect.forEach(found.slice(from, from + BATCH), create, { concurrency })
        const runIds = created.filter((runId) => runId !== undefined)
        adopted += runIds.length
        if (runIds.length > 0) yield* settled(runIds)
        yield* roundGoesOn
      }
      return adopted
    })
    return { compare, adopt }
  }
}
