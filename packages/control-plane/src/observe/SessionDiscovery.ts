import { cleanText, isUuidSessionId, type RunDescriptor, runCreated, type SessionSnapshot } from "@runplane/domain"
import { RuntimeClient } from "@runplane/runtime"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { EventLog } from "../log/EventLog.ts"
import { Ids } from "../log/Ids.ts"
import { newRun } from "../log/runs/NewRun.ts"
import { DISCOVERY_SOURCE, RunRepository } from "../log/runs/RunRepository.ts"
import { Observers } from "./Observers.ts"
import { isObservableSessionId, shownSessionId } from "./SessionIds.ts"

/** Time-to-live of a discovered session that does not tell its own, milliseconds. */
const DEFAULT_TTL_MS = 300_000

/** Sessions of which it is remembered that they were refused. */
const REMEMBERED_REFUSALS = 1_000

/** Turns a session that no run knows into a run (docs/runtime.md#discovery). */
export class SessionDiscovery extends Context.Service<
  SessionDiscovery,
  {
    /** Does nothing when the session has become known meanwhile. A failure is logged: it must not end the watch. */
    readonly discover: (session: SessionSnapshot) => Effect.Effect<void>
  }
>()("runplane/control-plane/SessionDiscovery") {
  static readonly layer = Layer.effect(
    SessionDiscovery,
    Effect.gen(function* () {
      const runs = yield* RunRepository
      const log = yield* EventLog
      const ids = yield* Ids
      const observers = yield* Observers
      const runtime = yield* RuntimeClient

      const refused = new Set<string>()
      /** One line for a session: the watch tells of it again whenever it is opened anew. */
      const refuse = Effect.fnUntraced(function* (sessionId: string) {
        // What is shown of it is what is kept: the id itself may be as long as a message of the runtime.
        const shown = shownSessionId(sessionId)
        if (refused.has(shown)) return
        if (refused.size >= REMEMBERED_REFUSALS) refused.clear()
        refused.add(shown)
        yield* Effect.logWarning(`session ${shown} is not observed: no run can have such an id`)
      })

      const discover = Effect.fn("SessionDiscovery.discover")(
        function* (session: SessionSnapshot) {
          const { sessionId } = session
          if (!isObservableSessionId(sessionId)) return yield* refuse(sessionId)
          const at = new Date(yield* Clock.currentTimeMillis).toISOString()
          const run = newRun(describeSession(session, runtime.kind, at), {
            id: isUuidSessionId(sessionId) ? sessionId : yield* ids.uuid,
            sessionId,
            traceId: yield* ids.traceId,
            spanId: yield* ids.spanId
          })
          const { id: runId, modeName, runtimeKind, traceId } = run
          yield* log.create({
            runId,
            insert: runs.insert(run, at),
            events: [runCreated({ ts: at, runId, traceId, modeName, runtimeKind, sessionId })]
          })
          yield* observers.adopt(runId)
        },
        (effect, session) =>
          effect.pipe(
            Effect.catchTag("RunAlreadyExists", () => Effect.void),
            Effect.catchCause((cause) => Effect.logError(`could not make a run of session ${session.sessionId}`, cause))
          )
      )
      return SessionDiscovery.of({ discover })
    })
  )
}

const describeSession = (session: SessionSnapshot, runtimeKind: string, discoveredAt: string): RunDescriptor => ({
  mode: "live",
  runtime: { kind: runtimeKind },
  session: {
    sessionId: session.sessionId,
    modeName: cleanText(session.mode),
    modeVersion: cleanText(session.modeVersion) || "1.0.0",
    configurationVersion: cleanText(session.configurationVersion) || "config.default",
    ...(session.policyVersion === "" ? {} : { policyVersion: cleanText(session.policyVersion) }),
    ttlMs:
      session.expiresAtUnixMs > session.startedAtUnixMs
        ? session.expiresAtUnixMs - session.startedAtUnixMs
        : DEFAULT_TTL_MS,
    participants: session.participants.map((id) => ({ id: cleanText(id) })),
    metadata: { source: DISCOVERY_SOURCE, discoveredAt, initiator: cleanText(session.initiator) }
  }
})
