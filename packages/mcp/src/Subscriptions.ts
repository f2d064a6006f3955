import type { ControlPlaneClient } from "@runplane/api"
import type * as McpServer from "effect/ai/McpServer"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

/** Resources of runs that this process follows at most, of all clients. */
export const MAX_SUBSCRIPTIONS = 100
/** Those of one key: a key that uses all of its own leaves some to the others. */
export const MAX_SUBSCRIPTIONS_OF_KEY = 50

/** Updates within this time are one notification for each resource. */
const LINGER = "200 millis"
const MAX_WAITING = 1_000

const RUN_URI = /^runplane:\/\/runs\/([^/?]+)/

/** The runs of resources, and the resources of each. */
const byRun = (uris: ReadonlyArray<string>): ReadonlyMap<string, ReadonlyArray<string>> => {
  const runs = new Map<string, ReadonlyArray<string>>()
  for (const uri of uris) {
    const [, id] = RUN_URI.exec(uri) ?? []
    if (id !== undefined) runs.set(id, [...(runs.get(id) ?? []), uri])
  }
  return runs
}

export interface Subscriptions {
  /**
   * Follows the runs of these resources for a key until the scope ends; false when the process follows as many as it
   * may, of this key or of all. The calls carry the credentials of the current request.
   */
  readonly follow: (uris: ReadonlyArray<string>, key: string) => Effect.Effect<boolean, never, Scope.Scope>
  /** Notifies the subscribers of updated resources, for ever. */
  readonly deliver: (server: McpServer.McpServer["Service"]) => Effect.Effect<void>
}

/** Subscriptions of run resources, fed from the event stream of each run (docs/reference/mcp.md#resources). */
export const makeSubscriptions = Effect.fnUntraced(function* (plane: ControlPlaneClient["Service"]) {
  const updates = yield* Queue.sliding<string>(MAX_WAITING)
  let active = 0
  const activeOf = new Map<string, number>()

  const follow: Subscriptions["follow"] = Effect.fnUntraced(function* (uris, key) {
    const runs = byRun(uris)
    const wanted = [...runs.values()].reduce((sum, ofRun) => sum + ofRun.length, 0)
    const own = activeOf.get(key) ?? 0
    if (active + wanted > MAX_SUBSCRIPTIONS || own + wanted > MAX_SUBSCRIPTIONS_OF_KEY) return false
    active += wanted
    activeOf.set(key, own + wanted)
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        active -= wanted
        const left = (activeOf.get(key) ?? wanted) - wanted
        if (left === 0) activeOf.delete(key)
        else activeOf.set(key, left)
      })
    )
    for (const [id, ofRun] of runs) {
      const events = plane.streamRun(id, { snapshots: "first" })
      yield* Stream.runForEach(events, ({ event }) =>
        event === "canonical_event" || event === "reset" ? Queue.offerAll(updates, ofRun) : Effect.void
      ).pipe(
        // A run that cannot be followed, such as a deleted one: the client reads the resource, and gets the reason.
        Effect.catch(() => Queue.offerAll(updates, ofRun)),
        Effect.forkScoped
      )
    }
    return true
  })

  const deliver: Subscriptions["deliver"] = (server) =>
    Stream.fromQueue(updates).pipe(
      Stream.groupedWithin(MAX_WAITING, LINGER),
      Stream.runForEach((uris) =>
        // One client that cannot be notified must not end the notices of the others.
        Effect.forEach(
          new Set(uris),
          (uri) =>
            Effect.catchDefect(server.notifications["notifications/resources/updated"]({ uri }), (defect) =>
              Effect.logError(`a change of ${uri} was not sent to the subscribers`, defect)
            ),
          { discard: true }
        )
      )
    )

  const subscriptions: Subscriptions = { follow, deliver }
  return subscriptions
})
