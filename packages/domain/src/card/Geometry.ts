/** A point of a picture; y grows downwards. */
export interface Point {
  readonly x: number
  readonly y: number
}

const round = (value: number): number => Math.round(value * 10) / 10

/** The point at `share` of a half ring, 0 at its left end, 1 at its right. */
export const onRing = (centre: Point, radius: number, share: number): Point => ({
  x: round(centre.x - radius * Math.cos(Math.PI * share)),
  y: round(centre.y - radius * Math.sin(Math.PI * share))
})

const textOf = ({ x, y }: Point): string => `${x} ${y}`

/** The piece of a half ring from one share to another, as the path of an SVG. */
export const arcPath = (centre: Point, inner: number, outer: number, from: number, to: number): string => {
  const corner = (radius: number, share: number) => textOf(onRing(centre, radius, share))
  return (
    `M${corner(outer, from)}A${outer} ${outer} 0 0 1 ${corner(outer, to)}` +
    `L${corner(inner, to)}A${inner} ${inner} 0 0 0 ${corner(inner, from)}Z`
  )
}

/** Dots in rows of a half ring, as in a parliament, in the order of their angle from left to right. */
export const parliament = (
  centre: Point,
  inner: number,
  outer: number,
  count: number
): { readonly dots: ReadonlyArray<Point>; readonly radius: number } => {
  const rows = rowsFor(count, inner, outer)
  const radii = Array.from({ length: rows }, (_, row) =>
    rows === 1 ? (inner + outer) / 2 : inner + ((outer - inner) * row) / (rows - 1)
  )
  const sum = radii.reduce((total, radius) => total + radius, 0)
  const perRow = shared(
    count,
    radii.map((radius) => radius / sum)
  )
  const placed = radii.flatMap((radius, row) => {
    const inRow = perRow[row] ?? 0
    return Array.from({ length: inRow }, (_, at) => {
      const share = inRow === 1 ? 0.5 : at / (inRow - 1)
      return { share, row, dot: onRing(centre, radius, share) }
    })
  })
  placed.sort((one, other) => one.share - other.share || other.row - one.row)
  const pitch = Math.min(
    rows === 1 ? Number.POSITIVE_INFINITY : (outer - inner) / (rows - 1),
    ...radii.map((radius, row) => (Math.PI * radius) / Math.max(1, (perRow[row] ?? 1) - 1))
  )
  return { dots: placed.map(({ dot }) => dot), radius: round(Math.min(9, pitch * 0.4)) }
}

/** As many rows as bring the distance between rows and within a row together. */
const rowsFor = (count: number, inner: number, outer: number): number => {
  const length = Math.PI * ((inner + outer) / 2)
  return Math.max(1, Math.min(12, Math.round(Math.sqrt((count * (outer - inner)) / length)) + 1))
}

/** Whole numbers that sum to `count`, as near to these shares as whole numbers are. */
const shared = (count: number, shares: ReadonlyArray<number>): ReadonlyArray<number> => {
  const exact = shares.map((share) => share * count)
  const whole = exact.map(Math.floor)
  let left = count - whole.reduce((total, value) => total + value, 0)
  const byRest = exact
    .map((value, at) => ({ at, rest: value - Math.floor(value) }))
    .toSorted((one, other) => other.rest - one.rest)
  for (const { at } of byRest) {
    if (left <= 0) break
    whole[at] = (whole[at] ?? 0) + 1
    left -= 1
  }
  return whole
}
