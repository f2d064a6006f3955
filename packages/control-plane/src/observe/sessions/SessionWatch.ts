import type { RuntimeSessionState, SessionLifecycleEvent } from "@runplane/domain"
import { RuntimeClient } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { keepOpen } from "../KeepOpen.ts"
import { ObserverSettings } from "../ObserverSettings.ts"
import { EarlySubscriptions } from "./EarlySubscriptions.ts"
import { SessionDiscovery } from "./SessionDiscovery.ts"
import { SessionUpdates } from "./SessionUpdates.ts"

const stateOf = (event: SessionLifecycleEvent): RuntimeSessionState => {
  switch (event.type) {
    // The watch opens with a CREATED for every session it knows, whatever its state
    // (docs/internals/runtime.md#watch-streams).
    case "CREATED":
      return event.session?.state ?? "UNSPECIFIED"
    case "RESUMED":
      return "OPEN"
    default:
      return event.type
  }
}

/**
 * The one subscription to the life-cycle of all sessions (docs/internals/runtime.md#watches): tells observers about
 * their sessions, and the discovery, where that is enabled, about those that nobody observes here. When the watch
 * breaks, observers are told to ask for themselves, because nothing of what happened meanwhile is repeated.
 */
export const SessionWatch = {
  layer: Layer.effectDiscard(
    Effect.gen(function* () {
      const settings = yield* ObserverSettings
      const runtime = yield* RuntimeClient
      const updates = yield* SessionUpdates
      const discovery = yield* SessionDiscovery
      const taps = yield* EarlySubscriptions

      const receive = Effect.fnUntraced(function* (event: SessionLifecycleEvent) {
        const { session } = event
        if (session === undefined) return
        const state = stateOf(event)
        if (event.type === "CREATED" && state === "OPEN") yield* taps.open(session)
        if (updates.isObserved(session.sessionId)) {
          return updates.publish(session.sessionId, { _tag: "State", state, snapshot: session })
        }
        if (event.type !== "CREATED") return taps.note(session.sessionId, { state, snapshot: session })
        if (!settings.discoveryEnabled || (state !== "OPEN" && state !== "SUSPENDED")) return
        // Waits when too many are waiting: the runtime then ends the watch, and the next one tells of all sessions.
        yield* discovery.expect(session)
      })

      const watch = runtime.watchSessions.pipe(
        Stream.onStart(Effect.sync(() => updates.setWatching(true))),
        Stream.runForEach(receive),
        Effect.ensuring(Effect.sync(() => updates.setWatching(false))),
        Effect.matchEffect({
          onSuccess: () => Effect.logInfo("the session watch ended"),
          onFailure: (error) => Effect.logWarning(`the session watch broke: ${error.message}`)
        }),
        Effect.catchDefect((defect) => Effect.logError("the session watch broke", defect)),
        Effect.andThen(Effect.sync(() => updates.publishAll({ _tag: "Check" })))
      )
      yield* Effect.forkScoped(keepOpen(watch, settings.watchReconnectMs))
    })
  )
}
