import { describeSqlError, isOutage } from "@runplane/database"
import * as Server from "@runplane/server"
import type * as Effect from "effect/Effect"
import { SqlError } from "effect/sql/SqlError"
import type { LoopName } from "./LoopNames.ts"

export { roundGoesOn, roundWaits } from "@runplane/server"

export type LoopOptions = Omit<Server.LoopOptions, "describe" | "describePublicly">

const describe = (failure: unknown): string => {
  if (failure instanceof SqlError) return describeSqlError(failure)
  return failure instanceof Error ? failure.message : String(failure)
}

/** The text of a server that is away may name hosts and users. */
const describePublicly = (failure: unknown): string =>
  failure instanceof SqlError && isOutage(failure)
    ? "the database is not available"
    : Server.withoutSecrets(describe(failure))

/**
 * A background loop of the service, repeated until its fiber is interrupted. No failure and no defect ends it
 * (docs/reference/operations.md#loops). A round does not wait for its input, so that one that hangs is seen: input is
 * the `wake`.
 */
export const forever = <E, R>(
  name: LoopName,
  round: Effect.Effect<Server.Pause | void, E, R>,
  options: LoopOptions = {}
): Effect.Effect<never, never, R> => Server.forever(name, round, { ...options, describe, describePublicly })
