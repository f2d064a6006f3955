import { type NarrativeItem, narrativeLength } from "./Narrative.ts"

/**
 * A row of the narrative: an item, a marked event that the narrative leaves out, or a number of items that are not
 * drawn.
 */
export type NarrativeRow =
  | { readonly kind: "item"; readonly index: number; readonly item: NarrativeItem }
  | { readonly kind: "event"; readonly index: number }
  | { readonly kind: "left out"; readonly index: number; readonly count: number }

/**
 * The latest `most` items of a narrative and the marked events up to `last`, so that a mark far back is shown at its
 * event. At most `most` marked events are shown, the latest ones. Its cost grows with the rows, not with the narrative.
 */
export const narrativeRows = (
  items: ReadonlyArray<NarrativeItem>,
  marked: ReadonlyArray<number>,
  most: number,
  last: number
): ReadonlyArray<NarrativeRow> => {
  const rows = new Map<number, NarrativeRow>()
  for (const index of marked.filter((index) => index <= last).slice(-most)) {
    const item = items[narrativeLength(items, index) - 1]
    rows.set(index, item?.index === index ? { kind: "item", index, item } : { kind: "event", index })
  }
  for (const item of items.slice(-most)) rows.set(item.index, { kind: "item", index: item.index, item })
  const joined: Array<NarrativeRow> = []
  // Items before the row, and those that have a row or are counted in one.
  let done = 0
  for (const row of [...rows.values()].toSorted((one, other) => one.index - other.index)) {
    const before = narrativeLength(items, row.index - 1)
    const first = items[done]
    if (first !== undefined && before > done)
      joined.push({ kind: "left out", index: first.index, count: before - done })
    joined.push(row)
    done = row.kind === "item" ? before + 1 : before
  }
  return joined
}
