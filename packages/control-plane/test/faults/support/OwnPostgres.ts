import { EmbeddedPostgres, temporaryFolder } from "@runplane/postgres"
import { freePorts } from "@runplane/testing"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"

/** How a server goes down: it ends its clients' sessions, it drops everything, or it is killed. */
export type Stop = "fast" | "immediate" | "kill"

const signals = { fast: "SIGINT", immediate: "SIGQUIT", kill: "SIGKILL" } as const

/** A PostgreSQL server of the test's own, to be stopped and started on the same data. */
export const ownPostgres = Effect.gen(function* () {
  const dataDir = yield* temporaryFolder
  const [port = 0] = yield* freePorts(1)
  const running = yield* Ref.make<{ readonly pid: number; readonly scope: Scope.Closeable } | undefined>(undefined)
  const parameters = { fsync: "off", max_connections: "100" }

  const open = Effect.gen(function* () {
    const scope = yield* Scope.make()
    return yield* Layer.build(EmbeddedPostgres.layer({ dataDir, port, parameters })).pipe(
      Effect.map((context) => ({ scope, server: Context.get(context, EmbeddedPostgres) })),
      Scope.provide(scope),
      Effect.onError(() => Scope.close(scope, Exit.void))
    )
  })

  const start = open.pipe(
    // After a kill the old server's processes may still hold its shared memory for a moment.
    Effect.retry({ schedule: Schedule.spaced("100 millis"), times: 100 }),
    Effect.orDie,
    Effect.tap(({ scope, server: { pid } }) => Ref.set(running, { pid, scope })),
    Effect.map(({ server: { url } }) => url)
  )

  const stop = Effect.fnUntraced(function* (how: Stop) {
    const server = yield* Ref.getAndSet(running, undefined)
    if (server === undefined) return
    yield* Effect.sync(() => process.kill(server.pid, signals[how]))
    yield* Effect.sync(() => isAlive(server.pid)).pipe(
      Effect.repeat({ while: (alive) => alive, schedule: Schedule.spaced("10 millis") })
    )
    yield* Scope.close(server.scope, Exit.void)
  })

  const url = yield* Effect.acquireRelease(start, () => Effect.ignore(stop("immediate")))
  return { url, port, start, stop }
})

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
