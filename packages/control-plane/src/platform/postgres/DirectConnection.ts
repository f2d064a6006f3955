import type { PgConnection } from "@effect/sql-pg/PgConnection"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"

/** Opens a connection beside the pool until the scope closes, with the defaults of the server: for rows in a stream. */
export class DirectConnection extends Context.Service<
  DirectConnection,
  Effect.Effect<PgConnection, SqlError, Scope.Scope>
>()("runplane/control-plane/DirectConnection") {}
