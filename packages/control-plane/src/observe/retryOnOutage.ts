import { isOutage } from "@runplane/database"
import { jitteredBackoff } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import { SqlError } from "effect/sql/SqlError"
import { AppendFailed } from "../platform/postgres/AppendFailed.ts"

/** Pauses while the database is away: 250 ms, doubling to 5 s, with jitter. */
export const outagePauses = jitteredBackoff(250, 5_000)

/** Retries for as long as the database is away; every other error fails at once. */
export const retryOnOutage = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.retry(effect, {
    schedule: outagePauses,
    while: (error) => (error instanceof AppendFailed ? error.outage : error instanceof SqlError && isOutage(error))
  })
