/**
 * The number of events in each of `buckets` equal stretches of time, from the first event to the last.
 */
export const densityOf = (times: ReadonlyArray<number>, buckets: number): ReadonlyArray<number> => {
  const counts = Array.from({ length: buckets }, () => 0)
  const span = spanOf(times)
  if (span === undefined) return counts
  for (const time of times) {
    const share = span.length === 0 ? 0 : (time - span.start) / span.length
    const bucket = Math.min(buckets - 1, Math.max(0, Math.floor(share * buckets)))
    counts[bucket] = (counts[bucket] ?? 0) + 1
  }
  return counts
}

const spanOf = (times: ReadonlyArray<number>) => {
  let start = Number.POSITIVE_INFINITY
  let end = Number.NEGATIVE_INFINITY
  for (const time of times) {
    if (time < start) start = time
    if (time > end) end = time
  }
  return start <= end ? { start, length: end - start } : undefined
}

/** A stretch of time in which nothing happened, drawn shorter than it was. */
export interface Idle {
  /** 0 to 1 along the drawing. */
  readonly from: number
  readonly to: number
  readonly ms: number
}

export interface TimeScale {
  /** The position of each time, 0 to 1, in the order of `times`. */
  readonly positions: ReadonlyArray<number>
  readonly idle: ReadonlyArray<Idle>
  /**
   * The position of any time, interpolated between the times of the scale; times beyond its ends have the position of
   * the end.
   */
  readonly positionAt: (time: number) => number
}

/** A pause longer than this share of the time that is left without such pauses is drawn as long as this share. */
const LONGEST_PAUSE = 0.06
const IDLE_MS = 2_000

/**
 * Positions of the times of a run along a line with shortened pauses: a decision of three seconds stays visible after a
 * wait of an hour. Times may be in any order.
 */
export const timeScale = (times: ReadonlyArray<number>): TimeScale => {
  const order = times.map((_, at) => at).toSorted((one, other) => (times[one] ?? 0) - (times[other] ?? 0))
  const gaps = order.map((at, rank) => (rank === 0 ? 0 : (times[at] ?? 0) - (times[order[rank - 1] ?? 0] ?? 0)))
  const busy = gaps.filter((gap) => gap < IDLE_MS).reduce((sum, gap) => sum + gap, 0)
  const most = Math.max(IDLE_MS / 4, busy * LONGEST_PAUSE)
  const drawn = gaps.map((gap) => (gap < IDLE_MS ? gap : Math.min(gap, most)))
  const whole = drawn.reduce((sum, gap) => sum + gap, 0)
  const positions = times.map(() => 0)
  const idle: Array<Idle> = []
  let at = 0
  order.forEach((event, rank) => {
    const from = whole === 0 ? 0 : at / whole
    at += drawn[rank] ?? 0
    const to = whole === 0 ? 0 : at / whole
    positions[event] = to
    const gap = gaps[rank] ?? 0
    if (gap > (drawn[rank] ?? 0)) idle.push({ from, to, ms: gap })
  })
  const positionAt = (time: number) => {
    // The first that is not before it, by halves.
    let [low, high] = [0, order.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((times[order[middle] ?? 0] ?? 0) < time) low = middle + 1
      else high = middle
    }
    const [before, after] = [order[low - 1], order[low]]
    if (before === undefined) return positions[order[0] ?? 0] ?? 0
    if (after === undefined) return positions[before] ?? 0
    const [from, to] = [times[before] ?? 0, times[after] ?? 0]
    const [start, end] = [positions[before] ?? 0, positions[after] ?? 0]
    return start + ((end - start) * (time - from)) / (to - from)
  }
  return { positions, idle, positionAt }
}
