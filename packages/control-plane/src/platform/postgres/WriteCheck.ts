import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"

/** Asks whether the database takes writes; fails with the reason when it does not, and makes the pool look for one. */
export class WriteCheck extends Context.Service<WriteCheck, Effect.Effect<void, SqlError>>()(
  "runplane/control-plane/WriteCheck"
) {}
