import * as Context from "effect/Context"

/** Of the connections of the pool, one in so many may be used by event streams at a time. */
const POOL_SHARE = 4

/** How many reads of one kind, such as those of event streams, may be made at a time. */
export const streamReadsAt = (poolMax: number): number => Math.max(1, Math.floor(poolMax / POOL_SHARE))

/** How the pool of connections is used just now. */
export interface PoolCounts {
  inUse: number
  /** Callers that wait for a connection. */
  waiting: number
  /** Most connections. */
  max: number
}

export const poolCounts = (): PoolCounts => ({ inUse: 0, waiting: 0, max: 0 })

/** The use of the service's pool, for the metrics (docs/reference/http.md#metrics-endpoint). */
export const PoolUse = Context.Reference<Readonly<PoolCounts>>("runplane/control-plane/PoolUse", {
  defaultValue: poolCounts
})
