import { isoTime } from "@runplane/domain"
import { ControlPlaneSettings, readSettings, type SettingValues } from "@runplane/server"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { Placement } from "../../observe/placement/Placement.ts"
import { forever, roundGoesOn } from "../../platform/loop/Forever.ts"
import { Metrics } from "../../platform/metrics/Metrics.ts"
import { DatabaseClock } from "../../platform/postgres/DatabaseClock.ts"
import { Expiries, type Expiry } from "../../platform/postgres/Expiry.ts"
import { type ExpiredPosition, ExpiredRuns } from "./ExpiredRuns.ts"

const settings = {
  enabled: ControlPlaneSettings.DATA_RETENTION_ENABLED,
  /** Days for which data is kept. */
  ttlDays: ControlPlaneSettings.DATA_RETENTION_TTL_DAYS,
  /** Hours between two sweeps. */
  intervalHours: ControlPlaneSettings.DATA_RETENTION_INTERVAL_HOURS,
  /** Most runs that one transaction deletes. */
  batchSize: ControlPlaneSettings.DATA_RETENTION_BATCH_SIZE,
  /** Whether a run is deleted only when the archive has all of it. */
  onlyFiled: ControlPlaneSettings.RETENTION_REQUIRES_ARCHIVE
}

export type RetentionOptions = SettingValues<typeof settings>

/** The DATA_RETENTION_* settings. */
export const retentionSettings = readSettings(settings)

/** From the start of the service to its first sweep. Milliseconds. */
export const FIRST_SWEEP_DELAY_MS = 10_000

/**
 * A sweep pauses after each batch, for this multiple of the time of the batch and at most so long: writers share the
 * database with it.
 */
const RESTS = 2
const LONGEST_REST_MS = 10_000

/** The first pause after a failed sweep, and what one batch may take. Milliseconds. */
const RETRY_MS = 60_000
const BATCH_LIMIT_MS = 600_000

const MS_PER_HOUR = 3_600_000
const MS_PER_DAY = 24 * MS_PER_HOUR

/** The deleted rows of a sweep. */
export interface Swept {
  readonly runs: number
  readonly events: number
  /** Runs past their time that stay until the archive has them. */
  readonly waiting: number
  /** Other rows: their number for each kind, in the order of the sweep. */
  readonly expired: ReadonlyArray<{ readonly kind: string; readonly title: string; readonly removed: number }>
}

/**
 * Deletes rows older than the time to live (docs/reference/admin.md#retention): terminal runs with everything that
 * belongs to them, audit entries, webhook deliveries and resolved alerts. One process sweeps, in batches with pauses
 * between them, until every such row is deleted.
 */
export class Retention extends Context.Service<
  Retention,
  {
    /** One whole sweep. A second one at the same time skips the rows that the first deletes. */
    readonly sweep: Effect.Effect<Swept, SqlError>
  }
>()("runplane/control-plane/Retention") {
  static readonly layer = (options: RetentionOptions) =>
    Layer.effect(
      Retention,
      Effect.gen(function* () {
        const clock = yield* DatabaseClock
        const expiries = yield* Expiries
        const rows = yield* ExpiredRuns
        const metrics = yield* Metrics

        const inRests = Effect.fnUntraced(function* <A, E>(batch: Effect.Effect<A, E>) {
          const started = yield* Clock.currentTimeMillis
          const removed = yield* batch
          const rest = Math.min(((yield* Clock.currentTimeMillis) - started) * RESTS, LONGEST_REST_MS)
          if (rest > 0) yield* Effect.sleep(rest)
          yield* roundGoesOn
          return removed
        })

        const removeRuns = Effect.fnUntraced(function* (cutoff: string) {
          let runs = 0
          let events = 0
          let waiting = 0
          let next: ExpiredPosition | undefined
          while (true) {
            const removed = yield* inRests(
              rows.removeRuns(cutoff, options.batchSize, { after: next, onlyFiled: options.onlyFiled })
            )
            next = removed.next
            if (next === undefined) return { runs, events, waiting }
            metrics.retentionRemoved("run", removed.runs)
            metrics.retentionRemoved("event", removed.events)
            runs += removed.runs
            events += removed.events
            waiting += removed.waiting
          }
        })

        const removeAll = Effect.fnUntraced(function* ({ kind, removeBatch, title }: Expiry, cutoff: string) {
          let total = 0
          while (true) {
            const removed = yield* inRests(removeBatch(cutoff))
            if (removed === 0) return { kind, title, removed: total }
            metrics.retentionRemoved(kind, removed)
            total += removed
          }
        })

        const sweep = Effect.gen(function* () {
          const now = yield* clock.now
          const cutoff = isoTime(now - options.ttlDays * MS_PER_DAY)
          return {
            ...(yield* removeRuns(cutoff)),
            expired: yield* Effect.forEach(expiries, (expiry) => removeAll(expiry, cutoff))
          }
        }).pipe(Effect.withSpan("Retention.sweep"))
        return Retention.of({ sweep })
      })
    )
}

/**
 * Sweeps at the interval of the settings, ten seconds after this process became the one that sweeps. A failed sweep is
 * retried sooner.
 */
export const sweepForever = (intervalHours: number) =>
  Effect.gen(function* () {
    const { sweep } = yield* Retention
    const metrics = yield* Metrics

    const sweepOnce = Effect.gen(function* () {
      const started = yield* Clock.currentTimeMillis
      const seconds = Effect.map(Clock.currentTimeMillis, (now) => (now - started) / 1_000)
      const swept = yield* Effect.tapCause(sweep, () =>
        Effect.map(seconds, (took) => metrics.retentionSweep("failed", took))
      )
      metrics.retentionSweep("completed", yield* seconds)
      const { events, expired, runs, waiting } = swept
      metrics.retentionWaiting(waiting)
      yield* Effect.logInfo(
        `retention removed ${runs} runs with ${events} events, ` +
          expired.map(({ removed, title }) => `${removed} ${title}`).join(", ")
      )
      if (waiting > 0) yield* Effect.logWarning(`retention keeps ${waiting} runs, which the archive does not have yet`)
    })
    const every = intervalHours * MS_PER_HOUR
    const backoff = { firstMs: Math.min(RETRY_MS, every), longestMs: every }
    yield* forever("retention", sweepOnce, { first: FIRST_SWEEP_DELAY_MS, every, backoff, limitMs: BATCH_LIMIT_MS })
  })

/** The sweeps, by the DATA_RETENTION_* settings; none unless they are enabled. One of all processes sweeps. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const options = yield* retentionSettings
    if (!options.enabled) return Layer.empty
    const singleton = Placement.use((placement) =>
      placement.singleton("retention", sweepForever(options.intervalHours))
    )
    return Layer.effectDiscard(singleton).pipe(
      Layer.provide(Retention.layer(options)),
      Layer.provide(ExpiredRuns.layer)
    )
  })
)
