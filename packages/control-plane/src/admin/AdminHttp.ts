import {
  type CircuitHistoryQuery,
  ControlPlaneApi,
  type LogLevelName,
  parseIsoDate,
  RUNPLANE_VERSION
} from "@runplane/api"
import { isoTime } from "@runplane/domain"
import { CircuitBreaker, type CircuitTransition } from "@runplane/runtime"
import { changeLogLevel, settingsInForce } from "@runplane/server"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import { ArchiveStatus } from "../features/archive/ArchiveStatus.ts"
import { JoinTokens } from "../features/ingest/JoinTokens.ts"
import { Receiver } from "../features/ingest/Receiver.ts"
import { Observers } from "../observe/Observers.ts"
import { AuditTrail } from "../platform/audit/AuditTrail.ts"
import { asCaller, currentCaller } from "../platform/http/CurrentCaller.ts"
import { orUnavailable } from "../platform/http/OutageAnswers.ts"
import { isoNow } from "../platform/IsoNow.ts"
import { DriftReport } from "./DriftReport.ts"
import { Processes } from "./processes/Processes.ts"
import { retentionSettings } from "./retention/Retention.ts"

const MS_PER_HOUR = 3_600_000
const WINDOW_MS: ReadonlyMap<string, number> = new Map([
  ["1h", MS_PER_HOUR],
  ["6h", 6 * MS_PER_HOUR],
  ["24h", 24 * MS_PER_HOUR],
  ["7d", 7 * 24 * MS_PER_HOUR]
])

/**
 * The start of the window of the query, Unix milliseconds; undefined when the query names none
 * (docs/reference/admin.md#breaker-history).
 */
const startOf = ({ since, window }: CircuitHistoryQuery, now: number): number => {
  if (since !== undefined) return Date.parse(parseIsoDate(since) ?? "")
  const length = window === undefined ? undefined : WINDOW_MS.get(window)
  return length === undefined ? Number.NEGATIVE_INFINITY : now - length
}

/** The entries of the breaker's history in the window of a query, as they are served. `now` in Unix milliseconds. */
export const selectHistory = (history: ReadonlyArray<CircuitTransition>, query: CircuitHistoryQuery, now: number) => {
  const start = startOf(query, now)
  return history
    .filter(({ enteredAt }) => Number.isNaN(start) || enteredAt >= start)
    .map(({ enteredAt, reason, state }) => ({ state, enteredAt: isoTime(enteredAt), reason }))
}

/** The administration of the service (docs/reference/admin.md#circuit-breaker, docs/reference/admin.md#drift). */
export const AdminHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "admin",
  Effect.fnUntraced(function* (handlers) {
    const audit = yield* AuditTrail
    const breaker = yield* CircuitBreaker
    const drift = yield* DriftReport
    const observers = yield* Observers
    const processes = yield* Processes
    const archiveStatus = yield* ArchiveStatus
    const receiver = yield* Receiver
    const tokens = yield* JoinTokens
    // What cannot be read has stopped the start.
    const settings = yield* Effect.orDie(settingsInForce("control-plane"))
    const startedAt = yield* isoNow

    /** The breaker lives in memory: a reset that cannot be recorded has happened all the same. */
    const resetBreaker = Effect.gen(function* () {
      const before = yield* breaker.state
      yield* breaker.reset
      const at = yield* isoNow
      yield* audit.recordDone({
        caller: yield* currentCaller,
        action: "circuit_breaker.reset",
        resource: "circuit-breaker",
        resourceId: "runtime",
        details: { before },
        at
      })
      return { status: "ok" as const, state: "CLOSED" as const }
    })

    const retention = yield* Effect.orDie(retentionSettings)
    const retentionWaits = Effect.gen(function* () {
      if (!retention.enabled || !retention.onlyFiled) return null
      const cutoff = (yield* Clock.currentTimeMillis) - retention.ttlDays * 24 * MS_PER_HOUR
      return yield* archiveStatus.unfiledBefore(isoTime(cutoff))
    })

    const ingest = Effect.map(receiver.sources, (sources) => ({
      data: sources.map(({ bytes, lagSeconds, rows, source }) => ({
        ...{ source, waiting: rows, waitingBytes: bytes, lagSeconds }
      }))
    }))

    const archive = Effect.gen(function* () {
      const position = yield* archiveStatus.position
      if (position === undefined) return { archive: null }
      const { cell, failure, lag, url, writtenSeq } = position
      const last = yield* archiveStatus.lastFile
      return {
        archive: {
          ...{ url, cell, writtenSeq, lagEvents: lag.events, lagSeconds: lag.seconds },
          waitingChanges: yield* archiveStatus.waitingChanges,
          retentionWaits: yield* retentionWaits,
          tables: yield* archiveStatus.tables,
          lastFile: last === undefined ? null : { ...last, writtenAt: last.writtenAt.toISOString() },
          failure:
            failure === undefined
              ? null
              : { since: failure.since.toISOString(), kind: failure.kind, message: failure.message }
        }
      }
    })

    const setLogLevel = Effect.fnUntraced(function* (level: LogLevelName) {
      const changed = yield* changeLogLevel(level)
      yield* audit.recordDone({
        caller: yield* currentCaller,
        action: "log_level.changed",
        resource: "log",
        resourceId: "level",
        details: changed,
        at: yield* isoNow
      })
      return changed
    })

    return handlers.handleAll({
      setLogLevel: ({ payload }) => setLogLevel(payload.level),
      resetCircuitBreaker: () => resetBreaker,
      circuitBreakerHistory: ({ query }) =>
        Effect.gen(function* () {
          // The state first: reading it half-opens a circuit that is due, which adds to the history.
          const state = yield* breaker.state
          const history = selectHistory(yield* breaker.history, query, yield* Clock.currentTimeMillis)
          return { state, history }
        }),
      process: () =>
        Effect.map(observers.active, (observedRuns) => ({
          version: RUNPLANE_VERSION,
          startedAt,
          observedRuns,
          settings
        })),
      archive: () => orUnavailable(archive),
      ingest: () => orUnavailable(ingest),
      issueToken: ({ payload }) => asCaller((caller) => tokens.issue(payload, caller)),
      processes: () => orUnavailable(Effect.map(processes.list, (data) => ({ data }))),
      runtimeSessions: () => orUnavailable(drift.make)
    })
  })
)
