import type { StoryItem } from "./Story.ts"

/** A row of the story: an item, a marked event that the story leaves out, or a number of items that are not drawn. */
export type StoryRow =
  | { readonly kind: "item"; readonly index: number; readonly item: StoryItem }
  | { readonly kind: "event"; readonly index: number }
  | { readonly kind: "left out"; readonly index: number; readonly count: number }

/**
 * The latest `most` items of a story and the marked events up to `last`, so that a mark far back is shown at its event.
 * At most `most` marked events are shown, the latest ones.
 */
export const storyRows = (
  items: ReadonlyArray<StoryItem>,
  marked: ReadonlyArray<number>,
  most: number,
  last: number
): ReadonlyArray<StoryRow> => {
  const wanted = new Set(marked.filter((index) => index <= last).slice(-most))
  const inStory = new Set(items.map(({ index }) => index))
  const first = items.length - most
  const rows: Array<StoryRow> = items.map((item, at) =>
    at >= first || wanted.has(item.index)
      ? { kind: "item", index: item.index, item }
      : { kind: "left out", index: item.index, count: 1 }
  )
  for (const index of wanted) if (!inStory.has(index)) rows.push({ kind: "event", index })
  const joined: Array<StoryRow> = []
  for (const row of rows.toSorted((one, other) => one.index - other.index)) {
    const before = joined.at(-1)
    if (row.kind === "left out" && before?.kind === "left out") {
      joined[joined.length - 1] = { ...before, count: before.count + 1 }
    } else joined.push(row)
  }
  return joined
}
