/**
 * Without this: 10,000 idle sessions take 60 % of a core instead of 4.7, because each has a GetSession in every idle
 * timeout (docs/internals/scale.md); costs a listing for all of them.
 */

import { describeSqlError } from "@runplane/database"
import type { RunId, RunStatus, SessionSnapshot } from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { forever, roundGoesOn } from "../../platform/loop/Forever.ts"
import type { Idleness } from "../decide/Action.ts"
import { historyLength, isCounted } from "../decide/State.ts"
import { ObservedRuns } from "../ObservedRuns.ts"
import { ObserverSettings } from "../ObserverSettings.ts"
import { SessionDirectory } from "./SessionDirectory.ts"

/** Comparisons closer to each other than this do not pay. Milliseconds. */
const LEAST_INTERVAL_MS = 1_000
const RUNS_PER_QUERY = 1_000
/** Observations that are woken together, and the pause before the next ones, in which other fibers run. */
const WAKE_BATCH = 100
const WAKE_PAUSE_MS = 8

/** A check of an idle session that a comparison with the listing can replace. */
export interface IdleCheck {
  readonly runId: RunId
  readonly sessionId: string
  /** When the observation checks its session; Unix milliseconds. */
  readonly at: number
  /** What the listing has to confirm. */
  readonly idleness: Idleness
  /** Schedules the check of the observation. */
  readonly setAlarm: (at: number) => Effect.Effect<void>
}

interface Pending extends Omit<IdleCheck, "at"> {
  at: number
}

/**
 * Compares the sessions of all idle observations with one listing, at most twice in an idle timeout
 * (docs/internals/runtime.md#idle-sessions). Where nothing has changed the check is due an idle timeout later;
 * otherwise the observation checks its session itself, at the time it has set.
 */
export class IdleChecks extends Context.Service<
  IdleChecks,
  {
    /** Replaces the run's previous check. */
    readonly add: (check: IdleCheck) => Effect.Effect<void>
    readonly remove: (sessionId: string, runId: RunId) => void
  }
>()("runplane/control-plane/IdleChecks") {
  static readonly layer = Layer.effect(
    IdleChecks,
    Effect.gen(function* () {
      const runs = yield* ObservedRuns
      const directory = yield* SessionDirectory
      const { streamIdleTimeoutMs: period } = yield* ObserverSettings
      const interval = Math.ceil(period / 2)
      const pending = new Map<string, Pending>()
      const nextAfter = (now: number) =>
        interval < LEAST_INTERVAL_MS ? Number.POSITIVE_INFINITY : (Math.floor(now / interval) + 1) * interval
      let nextComparison = nextAfter(yield* Clock.currentTimeMillis)

      const isPending = (check: Pending) => pending.get(check.sessionId) === check

      const wake = (check: Pending) =>
        Effect.suspend(() => {
          if (!isPending(check)) return Effect.void
          pending.delete(check.sessionId)
          return check.setAlarm(check.at)
        })

      const statusesOf = (checks: ReadonlyArray<Pending>) =>
        runs
          .statuses(checks.map(({ runId }) => runId))
          .pipe(
            Effect.catch((error: SqlError) =>
              Effect.as(
                Effect.logDebug(`cannot read the runs of idle sessions: ${describeSqlError(error)}`),
                new Map<string, RunStatus>()
              )
            )
          )

      /** The checks whose sessions have not changed and do not expire before that time, of all that are pending. */
      const unchanged = Effect.fnUntraced(function* (until: number) {
        const open = new Map(pending)
        const listed: Array<Pending> = []
        const compare = (page: ReadonlyArray<SessionSnapshot>) =>
          Effect.sync(() => {
            for (const session of page) {
              const check = open.get(session.sessionId)
              if (check === undefined || !isAsExpected(session, check.idleness, until)) continue
              open.delete(session.sessionId)
              listed.push(check)
            }
            return open.size === 0 ? "enough" : "more"
          })
        yield* Effect.ignore(directory.list(compare))
        const found = new Set<Pending>()
        for (let first = 0; first < listed.length; first += RUNS_PER_QUERY) {
          const checks = listed.slice(first, first + RUNS_PER_QUERY)
          const statuses = yield* statusesOf(checks)
          for (const check of checks) {
            if (statuses.get(check.runId) === (check.idleness.suspended ? "suspended" : "running")) found.add(check)
          }
        }
        return found
      })

      const compareAll = Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        nextComparison = nextAfter(now)
        const due = [...pending.values()].filter(({ at }) => at < nextComparison)
        const isCheaper = yield* directory.isListingCheaper(due.length)
        const settled = isCheaper
          ? yield* Effect.catchDefect(unchanged(now + period), (defect) =>
              Effect.as(Effect.logError("idle sessions could not be compared", defect), new Set<Pending>())
            )
          : new Set<Pending>()
        for (const check of settled) if (isPending(check)) check.at = now + period
        const others = due.filter((check) => !settled.has(check))
        for (let first = 0; first < others.length; first += WAKE_BATCH) {
          if (first > 0) yield* Effect.sleep(WAKE_PAUSE_MS)
          yield* Effect.forEach(others.slice(first, first + WAKE_BATCH), wake, { discard: true })
          yield* roundGoesOn
        }
        return { pauseMs: Math.max(0, nextComparison - (yield* Clock.currentTimeMillis)) }
      })
      if (Number.isFinite(nextComparison)) {
        const first = nextComparison - (yield* Clock.currentTimeMillis)
        yield* Effect.forkScoped(forever("idle-checks", compareAll, { first }))
      }

      const remove = (sessionId: string, runId: RunId) => {
        if (pending.get(sessionId)?.runId === runId) pending.delete(sessionId)
      }
      const add = (check: IdleCheck) =>
        Effect.suspend(() => {
          const other = pending.get(check.sessionId)
          // A check before the next comparison cannot wait, and another run may follow the same session for a while.
          if (check.at < nextComparison || (other !== undefined && other.runId !== check.runId)) {
            remove(check.sessionId, check.runId)
            return check.setAlarm(check.at)
          }
          pending.set(check.sessionId, { ...check })
          return Effect.void
        })
      return IdleChecks.of({ add, remove })
    })
  )
}

/** The session has the expected state, the log has all its messages, and it does not expire before that time. */
const isAsExpected = (session: SessionSnapshot, { received, suspended }: Idleness, until: number): boolean =>
  session.state === (suspended ? "SUSPENDED" : "OPEN") &&
  isCounted(session) &&
  historyLength(session) <= received &&
  (suspended || session.expiresAtUnixMs > until)
