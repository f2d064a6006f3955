import type { Readiness } from "@runplane/api"
import type { SchemaRefused } from "@runplane/database"
import { describeSqlError } from "@runplane/database"
import { CircuitBreaker } from "@runplane/runtime"
import { Loops, loopHealth, makeOutageLog } from "@runplane/server"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { AppendQueue, type FailingAppends, type OldestAppend } from "../../event-log/append/AppendQueue.ts"
import { EventLogSettings } from "../../event-log/EventLogSettings.ts"
import { Observers, type RecoveryProgress } from "../../observe/Observers.ts"
import { Placement } from "../../observe/placement/Placement.ts"
import { type Ready, type ReadyPart, ReadyParts } from "../../platform/http/ReadyParts.ts"
import { CHECK_TIMEOUT_MS, RuntimeHealth } from "../../platform/http/RuntimeHealth.ts"
import { forever } from "../../platform/loop/Forever.ts"
import { WriteCheck } from "../../platform/postgres/WriteCheck.ts"

/** Probes are not throttled: the dependencies are checked at most this often. Milliseconds. */
const READINESS_TTL_MS = 1_000
/** A run this young may not have found its observer yet. Seconds. */
const ADOPTION_GRACE_SECONDS = 30
/** How often the service checks without a probe. Milliseconds. */
const CHECK_INTERVAL_MS = 5_000

/**
 * Whether the dependencies of the service work (docs/reference/admin.md#readiness). A check never fails; it says
 * `unhealthy`.
 */
export class Health extends Context.Service<
  Health,
  {
    readonly readiness: Effect.Effect<Readiness>
  }
>()("runplane/control-plane/Health") {
  static readonly layer = Layer.effect(
    Health,
    Effect.gen(function* () {
      const writes = yield* WriteCheck
      const breaker = yield* CircuitBreaker
      const runtime = yield* RuntimeHealth
      const observers = yield* Observers
      const placement = yield* Placement
      const appends = yield* AppendQueue
      const features = yield* ReadyParts
      const { oldestAppendMs } = yield* EventLogSettings
      const { remarks, troubles } = yield* Loops
      const outages = {
        database: makeOutageLog("the database"),
        runtime: makeOutageLog("the runtime"),
        log: makeOutageLog("the log of the runs"),
        placement: makeOutageLog("the placement of the runs")
      }

      const tooSlow = <A>(answer: A) => ({ duration: CHECK_TIMEOUT_MS, orElse: () => Effect.succeed(answer) })

      const database = writes.pipe(
        Effect.andThen(Effect.as(outages.database.back, "ok" as const)),
        Effect.catch((error) => Effect.as(outages.database.lost(describeFault(error)), "unhealthy" as const)),
        Effect.timeoutOrElse({
          duration: CHECK_TIMEOUT_MS,
          orElse: () =>
            Effect.as(outages.database.lost(`no answer within ${CHECK_TIMEOUT_MS} ms`), "unhealthy" as const)
        })
      )

      const runtimeCheck = Effect.tap(runtime.check, ({ detail = "", ok }) =>
        ok ? outages.runtime.back : outages.runtime.lost(detail)
      )

      /** A process without shards observes no run. */
      const hasShards = Effect.gen(function* () {
        const isStarved = yield* placement.isStarved
        yield* isStarved ? outages.placement.lost("this process holds the lock of no shard") : outages.placement.back
        return !isStarved
      })

      // A run is connected, or retried on schedule, exactly while its observer lives, in any process.
      const streamConsumer = observers.unobserved(ADOPTION_GRACE_SECONDS).pipe(
        Effect.map((unobserved) => (unobserved.length === 0 ? ("ok" as const) : ("unhealthy" as const))),
        Effect.catch(() => Effect.succeed("unhealthy" as const)),
        Effect.timeoutOrElse(tooSlow("unhealthy" as const)),
        Effect.flatMap((found) => Effect.map(hasShards, (has) => (has ? found : ("unhealthy" as const))))
      )

      const log = Effect.gen(function* () {
        const oldest = yield* appends.oldest
        if (oldest !== undefined && oldest.waitedMs >= oldestAppendMs)
          return { ok: false, detail: describeWait(oldest) }
        const failing = yield* appends.failing
        if (failing === undefined || failing.forMs < oldestAppendMs) {
          yield* outages.log.back
          return { ok: true, detail: "" }
        }
        yield* outages.log.lost(failing.reason)
        return { ok: false, detail: describeFailing(failing) }
      })

      const loops = Effect.map(Clock.currentTimeMillis, (now) => loopHealth(troubles(now), remarks(), now))

      const partOf = (ready: Ready) =>
        ready.pipe(
          Effect.orElseSucceed(() => undefined),
          Effect.timeoutOrElse(tooSlow(undefined))
        )

      const readiness = yield* Effect.all(
        {
          database,
          log,
          runtime: runtimeCheck,
          streamConsumer,
          circuitBreaker: breaker.state,
          loops,
          parts: Effect.forEach(features, partOf, { concurrency: "unbounded" }),
          recovery: observers.recovery
        },
        { concurrency: "unbounded" }
      ).pipe(Effect.map(toReadiness), Effect.cachedWithTTL(READINESS_TTL_MS))
      return Health.of({ readiness })
    })
  )

  /** Checks at a fixed interval, so that the log reports a lost dependency even when no probe arrives. */
  static readonly layerWatch = Layer.effectDiscard(
    Effect.gen(function* () {
      const { readiness } = yield* Health
      yield* Effect.forkScoped(forever("readiness", Effect.asVoid(readiness), { every: CHECK_INTERVAL_MS }))
    })
  )
}

const describeFault = (error: SqlError | SchemaRefused): string =>
  error._tag === "SqlError" ? describeSqlError(error) : error.message

const describeWait = ({ locked, runId, waitedMs }: OldestAppend): string => {
  const why = locked ? "another transaction has locked the run" : "the database has not stored it yet"
  return `an append to run ${runId} has waited ${Math.floor(waitedMs / 1_000)} s: ${why}`
}

/** Without the error text of the server, which may name hosts and users. */
const describeFailing = ({ forMs }: FailingAppends): string =>
  `the database has refused every append for ${Math.floor(forMs / 1_000)} s; the log of the service has the reason`

interface Found extends Omit<Readiness["checks"], "recovery"> {
  readonly recovery: RecoveryProgress | undefined
  /** Those of features. */
  readonly parts: ReadonlyArray<ReadyPart | undefined>
}

/** Both forms: the checks, and the flat keys that older readers know. */
const toReadiness = ({ parts, recovery, ...found }: Found): Readiness => {
  const checks: Readiness["checks"] = recovery === undefined ? found : { ...found, recovery: textOf(recovery) }
  const ok =
    checks.database === "ok" &&
    checks.log.ok &&
    checks.streamConsumer === "ok" &&
    checks.runtime.ok &&
    checks.circuitBreaker !== "OPEN" &&
    checks.loops?.ok !== false &&
    parts.every((part) => part?.ok !== false)
  let shown: Partial<Readiness> = {}
  for (const part of parts) shown = { ...shown, ...part?.shown }
  // The answer begins with its status, as readers of a terminal expect.
  return { ...{ status: ok ? "ok" : "degraded", checks, ok, ...checks }, ...shown }
}

const textOf = ({ done, isWaitingForMemory, of }: RecoveryProgress) => {
  if (of === undefined) return "searching for unfinished runs"
  return `adopting ${done} of ${of}${isWaitingForMemory ? ", waiting for memory" : ""}`
}
