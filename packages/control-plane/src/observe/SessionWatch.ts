import type { RuntimeSessionState, SessionLifecycleEvent, SessionSnapshot } from "@runplane/domain"
import { RuntimeClient } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import * as FiberMap from "effect/FiberMap"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { ObservedRuns } from "./ObservedRuns.ts"
import { ObserverSettings } from "./ObserverSettings.ts"
import { SessionDiscovery } from "./SessionDiscovery.ts"
import { SessionUpdates } from "./SessionUpdates.ts"

const stateOf = (event: SessionLifecycleEvent): RuntimeSessionState => {
  switch (event.type) {
    // The watch opens with a CREATED for every session it knows, whatever its state (docs/runtime.md#watch-streams).
    case "CREATED":
      return event.session?.state ?? "UNSPECIFIED"
    case "RESUMED":
      return "OPEN"
    default:
      return event.type
  }
}

/**
 * The one subscription to the life-cycle of all sessions (docs/runtime.md#watches): tells observers about their
 * sessions and turns sessions that no run knows into runs. When the watch breaks, observers are told to ask for
 * themselves, because nothing of what happened meanwhile is repeated.
 */
export const SessionWatch = {
  layer: Layer.effectDiscard(
    Effect.gen(function* () {
      const settings = yield* ObserverSettings
      if (!settings.discoveryEnabled) return
      const runtime = yield* RuntimeClient
      const updates = yield* SessionUpdates
      const runs = yield* ObservedRuns
      const discovery = yield* SessionDiscovery
      const waiting = yield* FiberMap.make<string, void, never>()

      /** An unknown session may belong to a `POST /runs` that is still on its way, so it is looked up again later. */
      const discover = Effect.fnUntraced(function* (session: SessionSnapshot) {
        yield* Effect.sleep(settings.discoveryGraceMs)
        if ((yield* runs.findBySession(session.sessionId)) !== undefined) return
        yield* discovery.discover(session)
      })

      const receive = Effect.fnUntraced(function* (event: SessionLifecycleEvent) {
        const { session } = event
        if (session === undefined) return
        const state = stateOf(event)
        if (updates.isObserved(session.sessionId)) {
          return updates.publish(session.sessionId, { _tag: "State", state, snapshot: session })
        }
        if (event.type !== "CREATED" || (state !== "OPEN" && state !== "SUSPENDED")) return
        yield* FiberMap.run(
          waiting,
          session.sessionId,
          discover(session).pipe(
            Effect.catchCause((cause) => Effect.logWarning(`could not look into session ${session.sessionId}`, cause))
          ),
          { onlyIfMissing: true }
        )
      })

      yield* runtime.watchSessions.pipe(
        Stream.onStart(Effect.sync(() => updates.setWatching(true))),
        Stream.runForEach(receive),
        Effect.ensuring(Effect.sync(() => updates.setWatching(false))),
        Effect.matchEffect({
          onSuccess: () => Effect.logInfo("the session watch ended"),
          onFailure: (error) => Effect.logWarning(`the session watch broke: ${error.message}`)
        }),
        Effect.andThen(Effect.sync(() => updates.publishAll({ _tag: "Check" }))),
        Effect.repeat(Schedule.spaced(settings.watchReconnectMs)),
        Effect.forkScoped
      )
    })
  )
}
