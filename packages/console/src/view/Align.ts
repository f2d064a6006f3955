/** A row of two lists side by side: places in the left and in the right one; at least one of them is there. */
export interface AlignedRow {
  readonly left: number | undefined
  readonly right: number | undefined
}

/** Cells of the table that aligns two lists; longer ones are aligned by their places behind what they begin with. */
const MOST_CELLS = 4_000_000

/**
 * Puts two lists side by side so that as many equal entries as possible stand in one row, in their order: the longest
 * common subsequence of their keys. What stands between two such rows is paired as it comes.
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

/** The rest of both sides, one after the other: what only one of them has stands alone. */
const paired = (leftFrom: number, leftTo: number, rightFrom: number, rightTo: number): ReadonlyArray<AlignedRow> => [
  ...Array.from({ length: leftTo - leftFrom }, (_, place) => ({ left: leftFrom + place, right: undefined })),
  ...Array.from({ length: rightTo - rightFrom }, (_, place) => ({ left: undefined, right: rightFrom + place }))
]
