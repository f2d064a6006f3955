/** A row of two aligned lists: an offset in the left one, in the right one, or in both. */
export interface AlignedRow {
  readonly left: number | undefined
  readonly right: number | undefined
}

/** Cells of the table that aligns two lists; longer ones are paired by position after their common beginning. */
const MOST_CELLS = 4_000_000

/**
 * Aligns two lists so that as many equal entries as possible share a row, in order: the longest common subsequence of
 * their keys. The entries between two such rows have rows of their own.
 */
export const align = (left: ReadonlyArray<string>, right: ReadonlyArray<string>): ReadonlyArray<AlignedRow> => {
  let same = 0
  while (same < left.length && same < right.length && left[same] === right[same]) same += 1
  const rows: Array<AlignedRow> = Array.from({ length: same }, (_, at) => ({ left: at, right: at }))
  const height = left.length - same
  const width = right.length - same
  if (height * width > MOST_CELLS) return [...rows, ...paired(same, left.length, same, right.length)]

  const lengths = new Uint16Array((height + 1) * (width + 1))
  const at = (row: number, column: number) => row * (width + 1) + column
  for (let row = height - 1; row >= 0; row--) {
    for (let column = width - 1; column >= 0; column--) {
      lengths[at(row, column)] =
        left[same + row] === right[same + column]
          ? (lengths[at(row + 1, column + 1)] ?? 0) + 1
          : Math.max(lengths[at(row + 1, column)] ?? 0, lengths[at(row, column + 1)] ?? 0)
    }
  }
  let row = 0
  let column = 0
  let [fromLeft, fromRight] = [same, same]
  while (row < height && column < width) {
    if (left[same + row] === right[same + column]) {
      rows.push(...paired(fromLeft, same + row, fromRight, same + column))
      rows.push({ left: same + row, right: same + column })
      row += 1
      column += 1
      fromLeft = same + row
      fromRight = same + column
    } else if ((lengths[at(row + 1, column)] ?? 0) >= (lengths[at(row, column + 1)] ?? 0)) row += 1
    else column += 1
  }
  return [...rows, ...paired(fromLeft, left.length, fromRight, right.length)]
}

/** Entries of one side only, each in its own row: first the left ones, then the right ones. */
const paired = (leftFrom: number, leftTo: number, rightFrom: number, rightTo: number): ReadonlyArray<AlignedRow> => [
  ...Array.from({ length: leftTo - leftFrom }, (_, offset) => ({ left: leftFrom + offset, right: undefined })),
  ...Array.from({ length: rightTo - rightFrom }, (_, offset) => ({ left: undefined, right: rightFrom + offset }))
]
