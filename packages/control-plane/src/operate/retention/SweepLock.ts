import type * as PgClient from "@effect/sql-pg/PgClient"
import type * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import { whileAlone } from "../../database/WhileAlone.ts"

/** Any number that no other user of the database locks. */
const RETENTION_LOCK = 7_266_423

/** Runs the effect while no other process sweeps; answers undefined at once when one does. */
export const withSweepLock = <A, R>(
  effect: Effect.Effect<A, SqlError, R>
): Effect.Effect<A | undefined, SqlError, R | PgClient.PgClient> => whileAlone(RETENTION_LOCK, effect)
