import * as Context from "effect/Context"

/** How the pool of connections is used just now. */
export interface PoolCounts {
  inUse: number
  /** Callers that wait for a connection. */
  waiting: number
  /** Most connections. */
  max: number
}

export const poolCounts = (): PoolCounts => ({ inUse: 0, waiting: 0, max: 0 })

/** The use of the service's pool, for the metrics (docs/http.md#metrics-endpoint). */
export const PoolUse = Context.Reference<Readonly<PoolCounts>>("runplane/control-plane/PoolUse", {
  defaultValue: poolCounts
})
