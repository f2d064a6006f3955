import type { RunId, RunStatus, SessionSnapshot } from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { withoutServices } from "../../platform/http/LeanContext.ts"
import { describeSqlError } from "../../platform/postgres/SqlFailures.ts"
import type { Quiet } from "../decide/Action.ts"
import { historyLength, isCounted } from "../decide/Counts.ts"
import { ObservedRuns } from "../ObservedRuns.ts"
import { ObserverSettings } from "../ObserverSettings.ts"
import { SessionListings } from "./SessionListings.ts"

/** Comparisons closer to each other than this are not worth it. Milliseconds. */
const LEAST_INTERVAL_MS = 1_000
/** Runs that are looked for with one query. */
const RUNS_PER_QUERY = 1_000
/** Observations that are woken at a time, and the pause before the next ones, in which others have their turn. */
const WOKEN_AT_ONCE = 100
const WOKEN_APART_MS = 8

/** An observation in whose session nothing happens. */
export interface Resting {
  readonly runId: RunId
  readonly sessionId: string
  /** When it wants to be woken; Unix milliseconds. */
  readonly at: number
  /** What does not need it to be woken. */
  readonly quiet: Quiet
  /** Has it woken at that time. */
  readonly setAlarm: (at: number) => Effect.Effect<void>
}

/** The same, while it rests on. */
interface Held extends Omit<Resting, "at"> {
  at: number
}

/**
 * Lets observations of quiet sessions rest (docs/internals/runtime.md#quiet). At most twice in an idle time-out one
 * listing of the runtime is compared with what their logs have: where nothing is missing and nothing has changed, there
 * is no need to wake anybody. All others are woken when they wanted to be, and ask themselves.
 */
export class QuietSessions extends Context.Service<
  QuietSessions,
  {
    /** In place of what the run has said before. */
    readonly rest: (resting: Resting) => Effect.Effect<void>
    readonly leave: (sessionId: string, runId: RunId) => void
  }
>()("runplane/control-plane/QuietSessions") {
  static readonly layer = Layer.effect(
    QuietSessions,
    Effect.gen(function* () {
      const runs = yield* ObservedRuns
      const listings = yield* SessionListings
      const { streamIdleTimeoutMs: period } = yield* ObserverSettings
      const interval = Math.ceil(period / 2)
      const held = new Map<string, Held>()
      const nextAfter = (now: number) =>
        interval < LEAST_INTERVAL_MS ? Number.POSITIVE_INFINITY : (Math.floor(now / interval) + 1) * interval
      let nextComparison = nextAfter(yield* Clock.currentTimeMillis)

      const isHeld = (one: Held) => held.get(one.sessionId) === one

      const wake = (one: Held) =>
        Effect.suspend(() => {
          if (!isHeld(one)) return Effect.void
          held.delete(one.sessionId)
          return one.setAlarm(one.at)
        })

      const statusesOf = (some: ReadonlyArray<Held>) =>
        runs
          .statuses(some.map(({ runId }) => runId))
          .pipe(
            Effect.catch((error: SqlError) =>
              Effect.as(
                Effect.logDebug(`cannot look for the runs of quiet sessions: ${describeSqlError(error)}`),
                new Map<string, RunStatus>()
              )
            )
          )

      /**
       * Those that nothing has happened to, and nothing is going to before that time. All are compared, also those that
       * would ask later: so one listing does for all of them, and for a whole idle time-out.
       */
      const quietOf = Effect.fnUntraced(function* (until: number) {
        const open = new Map(held)
        const listed: Array<Held> = []
        yield* listings.read((page) => {
          for (const session of page) {
            const one = open.get(session.sessionId)
            if (one === undefined || !isAsExpected(session, one.quiet, until)) continue
            open.delete(session.sessionId)
            listed.push(one)
          }
          return open.size === 0 ? "enough" : "more"
        })
        const quiet = new Set<Held>()
        for (let first = 0; first < listed.length; first += RUNS_PER_QUERY) {
          const some = listed.slice(first, first + RUNS_PER_QUERY)
          const statuses = yield* statusesOf(some)
          for (const one of some) {
            if (statuses.get(one.runId) === (one.quiet.suspended ? "suspended" : "running")) quiet.add(one)
          }
        }
        return quiet
      })

      const compare = Effect.fnUntraced(function* () {
        const now = yield* Clock.currentTimeMillis
        nextComparison = nextAfter(now)
        const asked = [...held.values()].filter(({ at }) => at < nextComparison)
        const isWorthwhile = yield* listings.isWorthwhile(asked.length)
        // Whatever goes wrong, nobody rests for ever.
        const quiet = isWorthwhile
          ? yield* Effect.catchDefect(quietOf(now + period), (defect) =>
              Effect.as(Effect.logError("quiet sessions could not be compared", defect), new Set<Held>())
            )
          : new Set<Held>()
        for (const one of quiet) if (isHeld(one)) one.at = now + period
        const others = asked.filter((one) => !quiet.has(one))
        for (let first = 0; first < others.length; first += WOKEN_AT_ONCE) {
          if (first > 0) yield* Effect.sleep(WOKEN_APART_MS)
          yield* Effect.forEach(others.slice(first, first + WOKEN_AT_ONCE), wake, { discard: true })
        }
      })

      const compareInTime = Effect.gen(function* () {
        while (true) {
          yield* Effect.sleep(nextComparison - (yield* Clock.currentTimeMillis))
          yield* compare()
        }
      })
      if (Number.isFinite(nextComparison)) yield* Effect.forkScoped(withoutServices(compareInTime))

      const rest = (resting: Resting) =>
        Effect.suspend(() => {
          const other = held.get(resting.sessionId)
          // Another run may follow the same session for a while; and what comes before the next comparison cannot wait.
          if (resting.at < nextComparison || (other !== undefined && other.runId !== resting.runId)) {
            leave(resting.sessionId, resting.runId)
            return resting.setAlarm(resting.at)
          }
          held.set(resting.sessionId, { ...resting })
          return Effect.void
        })
      const leave = (sessionId: string, runId: RunId) => {
        if (held.get(sessionId)?.runId === runId) held.delete(sessionId)
      }
      return QuietSessions.of({ rest, leave })
    })
  )
}

/** The session is as its observation left it, the log has all of it, and it goes on until that time. */
const isAsExpected = (session: SessionSnapshot, { received, suspended }: Quiet, until: number): boolean =>
  session.state === (suspended ? "SUSPENDED" : "OPEN") &&
  isCounted(session) &&
  historyLength(session) <= received &&
  (suspended || session.expiresAtUnixMs > until)
