import type { SessionSnapshot } from "@runplane/domain"
import { eachSessionPage, RuntimeClient, type RuntimeError } from "@runplane/runtime"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { ObserverSettings } from "../ObserverSettings.ts"
import { Placement } from "../placement/Placement.ts"
import { SessionDiscovery } from "./SessionDiscovery.ts"
import { SessionUpdates } from "./SessionUpdates.ts"

/** From the time that it is this process's turn to its first reconciliation. Milliseconds. */
const FIRST_DELAY_MS = 1_000

const isLive = ({ state }: SessionSnapshot): boolean => state === "OPEN" || state === "SUSPENDED"

/**
 * Compares what the runtime lists with the runs, and has runs made for live sessions that the watch has missed
 * (docs/internals/runtime.md#reconciliation).
 */
export class Reconciliation extends Context.Service<
  Reconciliation,
  {
    /** One whole comparison: returns when every session that it found has been looked into. */
    readonly run: Effect.Effect<void, RuntimeError>
  }
>()("runplane/control-plane/Reconciliation") {
  static readonly layer = Layer.effect(
    Reconciliation,
    Effect.gen(function* () {
      const runtime = yield* RuntimeClient
      const updates = yield* SessionUpdates
      const discovery = yield* SessionDiscovery

      const take = Effect.fnUntraced(function* (page: ReadonlyArray<SessionSnapshot>) {
        const missed = page.filter((session) => isLive(session) && !updates.isObserved(session.sessionId))
        yield* Effect.forEach(missed, discovery.expect, { discard: true })
        yield* Effect.forEach(missed, ({ sessionId }) => discovery.settled(sessionId), { discard: true })
      })
      // Looking into a page may take as long as the database is away, so the time-out of a listing does not count.
      const limits = { ...runtime.listing, timeoutMs: Number.POSITIVE_INFINITY }
      const run = Effect.gen(function* () {
        const complete = yield* eachSessionPage(runtime.listSessionsPage, limits, take)
        if (complete) return
        yield* Effect.logWarning(`the runtime has more sessions than ${limits.maxPages} pages: not all were looked at`)
      }).pipe(Effect.withSpan("Reconciliation.run"))
      return Reconciliation.of({ run })
    })
  )

  /**
   * Reconciles soon after the start and then every SESSION_RECONCILE_INTERVAL_MS, one process for all. One that fails
   * is logged; the next one comes in its turn.
   */
  static readonly layerScheduled = Layer.effectDiscard(
    Effect.gen(function* () {
      const { discoveryEnabled, reconcileIntervalMs } = yield* ObserverSettings
      if (!discoveryEnabled || reconcileIntervalMs === 0) return
      const { run } = yield* Reconciliation
      const placement = yield* Placement
      const once = run.pipe(
        Effect.catch(({ message }) => Effect.logWarning(`cannot reconcile with the runtime: ${message}`)),
        Effect.catchDefect((defect) => Effect.logError("cannot reconcile with the runtime", defect))
      )
      const forever = Effect.repeat(once, Schedule.spaced(reconcileIntervalMs))
      yield* placement.singleton("reconciliation", Effect.andThen(Effect.sleep(FIRST_DELAY_MS), forever))
    })
  )
}
