import { EmbeddedPostgres } from "@runplane/postgres"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import type { TestProject } from "vitest/node"
import type {} from "./TestDatabase.ts"

const server = Layer.build(EmbeddedPostgres.layerTemporary({ parameters: { fsync: "off", max_connections: "200" } }))

/** One PostgreSQL server for all integration tests; each test file makes a database of its own in it. */
export default async function setup(project: TestProject) {
  const scope = Scope.makeUnsafe()
  const started = await Effect.runPromiseExit(Scope.provide(server, scope))
  if (Exit.isFailure(started)) {
    await Effect.runPromise(Scope.close(scope, started))
    const error = Cause.squash(started.cause)
    process.stderr.write(
      `runplane: the tests need a database: ${error instanceof Error ? error.message : String(error)}\n`
    )
    // Thrown, it would be a stack trace and "no test files found".
    process.exit(1)
  }
  project.provide("postgresUrl", Context.get(started.value, EmbeddedPostgres).url)
  return () => Effect.runPromise(Scope.close(scope, Exit.void))
}
