import type { SchemaRefused } from "@runplane/database"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"

/**
 * Fails when the database does not accept writes, and makes the pool search for a server that does. Fails also when its
 * schema is no longer the one of this program.
 */
export class WriteCheck extends Context.Service<WriteCheck, Effect.Effect<void, SqlError | SchemaRefused>>()(
  "runplane/control-plane/WriteCheck"
) {}
