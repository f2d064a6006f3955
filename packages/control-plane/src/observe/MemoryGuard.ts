/**
 * Without this: a process that adopts more runs than fit runs out of memory, restarts and fails again; costs an
 * observer of garbage collections.
 */
import { constants, type PerformanceEntry, PerformanceObserver } from "node:perf_hooks"
import { getHeapStatistics } from "node:v8"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** Share of the heap's limit above which no run is adopted; the rest is for requests and events. */
const FULL_SHARE = 3 / 4

/** Whether V8's heap is too full for more runs (docs/reference/operations.md#memory). */
export class MemoryGuard extends Context.Service<MemoryGuard, { readonly isFull: Effect.Effect<boolean> }>()(
  "runplane/control-plane/MemoryGuard"
) {
  static readonly layer = Layer.effect(
    MemoryGuard,
    Effect.gen(function* () {
      // The used size includes garbage, except right after a major collection.
      let living = 0
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          const observer = new PerformanceObserver((collections) => {
            if (collections.getEntries().some(isMajor)) living = getHeapStatistics().used_heap_size
          })
          observer.observe({ entryTypes: ["gc"] })
          return observer
        }),
        (observer) => Effect.sync(() => observer.disconnect())
      )
      return MemoryGuard.of({
        isFull: Effect.sync(() => {
          const { heap_size_limit, used_heap_size } = getHeapStatistics()
          return Math.min(living, used_heap_size) > heap_size_limit * FULL_SHARE
        })
      })
    })
  )
}

const isMajor = (entry: PerformanceEntry): boolean => {
  const detail: unknown = "detail" in entry ? entry.detail : undefined
  return (
    typeof detail === "object" &&
    detail !== null &&
    "kind" in detail &&
    detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR
  )
}
