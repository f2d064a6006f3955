/** How a change is folded into a counter. */
export type Fold = "add" | "max" | "set"

/** The sums of a counter: its one part, or one for each outcome. Money and marks are in billionths. */
export interface Sum {
  readonly value: number
  readonly n: number
}

/** A change of a counter, by an event or a mark. */
export interface CounterChange extends Sum {
  /** The outcome, for agreement; else empty. */
  readonly part: string
}

export const NO_CHANGE: ReadonlyArray<CounterChange> = []

/** One change of the only part. */
export const changeBy = (value: number, n = 1, part = ""): ReadonlyArray<CounterChange> => [{ value, n, part }]

/** The sums after a change; undefined is a part that does not exist yet. */
export const folded = (fold: Fold, before: Sum | undefined, { n, value }: Sum): Sum => {
  if (fold === "set" || before === undefined) return { value, n }
  const sum = fold === "max" ? Math.max(before.value, value) : before.value + value
  return { value: sum, n: before.n + n }
}

/** The sums of all parts of a counter. */
export interface Total extends Sum {
  /** The largest value of a part. */
  readonly most: number
}

export const totalOf = (parts: Iterable<Sum>): Total => {
  let [value, n, most] = [0, 0, 0]
  for (const part of parts) {
    value += part.value
    n += part.n
    most = Math.max(most, part.value)
  }
  return { value, n, most }
}
