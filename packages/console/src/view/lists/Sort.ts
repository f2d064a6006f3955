/** What a row sorts by; undefined where it has no value. */
export type SortValue = number | string | undefined

export interface Order {
  readonly title: string
  readonly isDescending: boolean
}

const compare = (one: number | string, other: number | string): number =>
  typeof one === "number" && typeof other === "number" ? one - other : String(one).localeCompare(String(other), "en")

/** The rows in an order; those without a value are last in either direction, equal ones stay as they were. */
export const sortedBy = <Row>(
  rows: ReadonlyArray<Row>,
  sortValue: (row: Row) => SortValue,
  isDescending: boolean
): ReadonlyArray<Row> =>
  rows
    .map((row) => ({ row, value: sortValue(row) }))
    .toSorted((one, other) => {
      if (one.value === undefined || other.value === undefined) {
        return Number(one.value === undefined) - Number(other.value === undefined)
      }
      return isDescending ? compare(other.value, one.value) : compare(one.value, other.value)
    })
    .map(({ row }) => row)

/**
 * The order after a press on the title of a column: numbers begin with the most, unless the least is what readers look
 * for, and texts with the first letter.
 */
export const nextOrder = (
  order: Order | undefined,
  { leastFirst = false, title }: { readonly title: string; readonly leastFirst?: boolean },
  sample: SortValue
): Order =>
  order?.title === title
    ? { title, isDescending: !order.isDescending }
    : { title, isDescending: !leastFirst && typeof sample !== "string" }
