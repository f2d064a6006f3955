/** The visible rows of a scrolled list, `last` excluded; all rows have one height. */
export const rowsInView = (
  top: number,
  viewHeight: number,
  rowHeight: number,
  count: number,
  overscan: number
): { readonly first: number; readonly last: number } => {
  const first = Math.max(0, Math.floor(top / rowHeight) - overscan)
  const last = Math.min(count, Math.ceil((top + viewHeight) / rowHeight) + overscan)
  return { first: Math.min(first, last), last }
}
