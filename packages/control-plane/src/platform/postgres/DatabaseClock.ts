import * as PgClient from "@effect/sql-pg/PgClient"
import { describeSqlError } from "@runplane/database"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** A time of the database, and times of this process before and after it was read. Unix milliseconds. */
export interface ClockSample {
  readonly before: number
  readonly database: number
  readonly after: number
}

/** An offset beyond this is logged, milliseconds: the clock of a machine is wrong. */
const WORTH_A_WARNING_MS = 1_000

/**
 * The offset of the database's clock that a sample allows and that is next to the one known so far: clocks that agree
 * as far as can be measured keep the offset 0. Milliseconds, whole.
 */
export const nextOffset = (known: number, { after, before, database }: ClockSample): number => {
  // The process reads whole milliseconds, so `after` may be nearly one more.
  const least = Math.floor(database - after - 1)
  const most = Math.ceil(database - before)
  return Math.min(Math.max(known, least), most)
}

/**
 * The time of the runs, which is the database's (docs/reference/events.md#time): processes whose clocks differ write
 * the log as if they had one clock. Each append corrects the offset.
 */
export class DatabaseClock extends Context.Service<
  DatabaseClock,
  {
    /** Unix milliseconds. */
    readonly now: Effect.Effect<number>
    /** The time of the database at a time of this process; both ISO-8601. */
    readonly shift: (ts: string) => string
    readonly correct: (sample: ClockSample) => Effect.Effect<void>
  }
>()("runplane/control-plane/DatabaseClock") {
  static readonly layer = Layer.effect(
    DatabaseClock,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      let offset = 0
      let warnedAt = 0
      const correct = Effect.fnUntraced(function* (sample: ClockSample) {
        offset = nextOffset(offset, sample)
        if (Math.abs(offset - warnedAt) < WORTH_A_WARNING_MS) return
        warnedAt = offset
        yield* Effect.logWarning(
          `the database's clock is ${offset} ms from the clock of this process; runs have the database's time`
        )
      })
      const first = Effect.gen(function* () {
        const before = yield* Clock.currentTimeMillis
        const [row] = yield* sql<{ readonly now: number }>`
          SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now`
        const after = yield* Clock.currentTimeMillis
        if (row !== undefined) yield* correct({ before, database: row.now, after })
      })
      // Without it the first append corrects the offset, after it was used for the frames of that append.
      yield* Effect.catch(first, (error) =>
        Effect.logDebug(`could not read the database's time: ${describeSqlError(error)}`)
      )
      return DatabaseClock.of({
        now: Effect.map(Clock.currentTimeMillis, (now) => now + offset),
        shift: (ts) => (offset === 0 ? ts : new Date(Date.parse(ts) + offset).toISOString()),
        correct
      })
    })
  )

  /** The clock of the process, for tests that set the time. */
  static readonly layerProcess = Layer.succeed(DatabaseClock, {
    now: Clock.currentTimeMillis,
    shift: (ts) => ts,
    correct: () => Effect.void
  })
}
