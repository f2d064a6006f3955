import * as Context from "effect/Context"

/** Event streams use at most this fraction of the connections of the pool. */
const POOL_SHARE = 4

/** Most concurrent reads of one kind, such as those of event streams. */
export const streamReadsAt = (poolMax: number): number => Math.max(1, Math.floor(poolMax / POOL_SHARE))

/** The current use of the pool. */
export interface PoolCounts {
  inUse: number
  /** Callers that wait for a connection. */
  waiting: number
  /** Most connections. */
  max: number
}

export const poolCounts = (): PoolCounts => ({ inUse: 0, waiting: 0, max: 0 })

/** The use of the service's pool, for the metrics (docs/reference/admin.md#metrics-endpoint). */
export const PoolUse = Context.Reference<Readonly<PoolCounts>>("runplane/control-plane/PoolUse", {
  defaultValue: poolCounts
})
