import { isoTime, isUuid } from "@runplane/domain"
import { HttpObserver, networkOf, type ObservedRequest } from "@runplane/server"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import { forever } from "../loop/Forever.ts"
import { Metrics } from "../metrics/Metrics.ts"
import { type AuditEntry, AuditTrail } from "./AuditTrail.ts"
import { makeRefusalSample, SAMPLED_IN_ALL } from "./RefusalSample.ts"

const REFUSALS: ReadonlySet<number> = new Set([401, 403])

/**
 * Writes an audit entry for requests that are answered with 401 or 403, as `makeRefusalSample` chooses them
 * (docs/reference/admin.md#audit-refusals). The answer does not wait for the entry. Passes every request to the
 * next observer.
 */
export const layerRefusedRequests = Layer.effect(
  HttpObserver,
  Effect.gen(function* () {
    const audit = yield* AuditTrail
    const { observe } = yield* HttpObserver
    const { sideEffectFailed } = yield* Metrics
    const sample = makeRefusalSample()
    const entries = yield* Queue.dropping<AuditEntry>(SAMPLED_IN_ALL)
    const recordNext = Effect.flatMap(
      Queue.poll(entries),
      Option.match({ onNone: () => Effect.void, onSome: audit.recordDone })
    )
    const wake = Queue.peek(entries)
    yield* Effect.forkScoped(forever("refusal-audit", recordNext, { wake, first: Number.POSITIVE_INFINITY }))

    const record = Effect.fnUntraced(function* (request: ObservedRequest) {
      const now = yield* Clock.currentTimeMillis
      const sampled = sample(request.caller?.actorId ?? networkOf(request.address), now)
      if (!sampled.isRecorded) return
      const isQueued = yield* Queue.offer(entries, entryOf(request, sampled.unrecorded, isoTime(now)))
      if (!isQueued) sideEffectFailed("audit")
    })
    return {
      observe: (request) =>
        REFUSALS.has(request.status) ? Effect.andThen(observe(request), record(request)) : observe(request)
    }
  })
)

/** The route replaces the path, which may hold secrets. An id that is not a UUID is a text of the caller's choice. */
const entryOf = (
  { address, caller, id, method, requestId, route, status }: ObservedRequest,
  unrecorded: number,
  at: string
): AuditEntry => ({
  caller: { actor: caller ?? { actorId: "anonymous", actorType: "anonymous" }, requestId, address },
  action: "access.refused",
  resource: "endpoint",
  resourceId: `${method} ${route}`,
  outcome: "refused",
  details: {
    status,
    ...(id !== undefined && isUuid(id) && { id: id.toLowerCase() }),
    ...(unrecorded > 0 && { unrecorded })
  },
  at
})
