/**
 * A cache of a bounded number of bytes, which its owner counts; the oldest entries leave first. The `Cache` of effect
 * bounds only the number of entries, and states differ by a factor of a thousand.
 */
export interface ByteCache<K, V> {
  readonly get: (key: K) => V | undefined
  /** Replaces the value of the key, as the newest entry. A value that is larger than the cache is not kept. */
  readonly put: (key: K, value: V, bytes: number) => void
  readonly forget: (key: K) => void
  readonly values: () => IterableIterator<V>
  readonly bytes: () => number
}

export const makeByteCache = <K, V>(maxBytes: number): ByteCache<K, V> => {
  const entries = new Map<K, { readonly value: V; readonly bytes: number }>()
  let total = 0

  const forget = (key: K) => {
    total -= entries.get(key)?.bytes ?? 0
    entries.delete(key)
  }
  const put = (key: K, value: V, bytes: number) => {
    forget(key)
    entries.set(key, { value, bytes })
    total += bytes
    for (const oldest of entries.keys()) {
      if (total <= maxBytes) return
      forget(oldest)
    }
  }
  const values = function* () {
    for (const { value } of entries.values()) yield value
  }
  return { get: (key) => entries.get(key)?.value, put, forget, values, bytes: () => total }
}
