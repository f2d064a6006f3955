import { type ArchiveRange, type FileBounds, isFullFor, NOTHING_TAKEN, pathsOf, type Taken } from "./Range.ts"

/** The events that a writer reads for the next files: from `after`, which is not included, up to `to`. */
export interface Reading {
  readonly after: number
  readonly to: number
  /** Undefined for a range that is committed: its end is fixed, whatever it has become. */
  readonly bounds: FileBounds | undefined
}

/** The range of an earlier attempt, or of another process, is read again as it was committed. */
export const readingOf = ({ from, to }: Pick<ArchiveRange, "from" | "to">): Reading => ({
  after: from - 1,
  to,
  bounds: undefined
})

/** Takes events in the order of their positions until the reading ends, or the next event exceeds its bounds. */
export interface RangeTaker {
  /** False when the event belongs to the next range: the range is full, and nothing more is taken. */
  readonly take: (seq: number, bytes: number) => boolean
  readonly taken: () => Taken
  /** The most events that it can still take; infinite for a committed range. */
  readonly left: () => number
  /** Where the range ends: positions behind the last event that have no event belong to a range that is not full. */
  readonly end: () => number
}

export const takerOf = ({ after, bounds, to }: Reading): RangeTaker => {
  let taken = NOTHING_TAKEN
  let last = after
  let isFull = false
  const left = () => (bounds === undefined ? Number.POSITIVE_INFINITY : Math.max(0, bounds.rows - taken.rows))
  return {
    take: (seq, bytes) => {
      isFull ||= bounds !== undefined && isFullFor(taken, bytes, bounds)
      if (isFull) return false
      taken = { rows: taken.rows + 1, bytes: taken.bytes + bytes }
      last = seq
      return true
    },
    taken: () => taken,
    left,
    end: () => (isFull || left() === 0 ? last : to)
  }
}

/** What happens to the files of a range when its encoded files have these days. */
export interface FileChanges {
  /** Written, or replaced by the same bytes. */
  readonly puts: ReadonlyArray<{ readonly day: string; readonly path: string }>
  /** Planned files without a row, because their runs were deleted: an earlier attempt may have written them. */
  readonly removals: ReadonlyArray<string>
}

export const fileChanges = (range: ArchiveRange, encodedDays: ReadonlyArray<string>): FileChanges => {
  const puts = [...new Set(encodedDays)].toSorted().map((day) => {
    const [path = ""] = pathsOf({ ...range, days: [day] })
    return { day, path }
  })
  const paths = new Set(puts.map(({ path }) => path))
  return { puts, removals: pathsOf(range).filter((path) => !paths.has(path)) }
}
