import { jitteredBackoff } from "@runplane/runtime"
import type { SqlError } from "effect/sql/SqlError"
import type { AppendFailed } from "../event-log/append/AppendRequest.ts"
import { isOutage } from "../platform/postgres/SqlFailures.ts"

/** Pauses while the database is away: 250 ms, doubling to 5 s, with jitter. */
export const outagePauses = jitteredBackoff(250, 5_000)

/** Whether the database could not be used at all, so that the same will do well later. */
export const isAway = (error: SqlError | AppendFailed): boolean =>
  error._tag === "AppendFailed" ? error.outage : isOutage(error)
