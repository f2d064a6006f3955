/** Seats that called the same models. */
export interface SharedModels {
  readonly model: string
  readonly seats: ReadonlyArray<string>
}

/**
 * The seats behind which is the same model. `rows` are the different combinations of the models of all seats, each as a
 * text, empty without a call. Two seats share a model where the texts of both are equal in each row that has both, and
 * one row does.
 */
export const sharedModels = (
  seats: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>
): ReadonlyArray<SharedModels> => {
  const isShared = (left: number, right: number) => {
    const both = rows.filter((row) => (row[left] ?? "") !== "" && (row[right] ?? "") !== "")
    return both.length > 0 && both.every((row) => row[left] === row[right])
  }
  const grouped = new Set<number>()
  return seats.flatMap((_, at) => {
    if (grouped.has(at)) return []
    const group = Array.from(seats, (_, other) => other).filter(
      (other) => other === at || (!grouped.has(other) && isShared(at, other))
    )
    if (group.length === 1) return []
    for (const other of group) grouped.add(other)
    return [{ model: modelText(rows, at) ?? "", seats: group.map((other) => seats[other] ?? "") }]
  })
}

/** The models of a seat in all runs, undefined without a call. */
export const modelText = (rows: ReadonlyArray<ReadonlyArray<string>>, at: number): string | undefined => {
  const texts = new Set(rows.flatMap((row) => ((row[at] ?? "") === "" ? [] : [row[at] ?? ""])))
  return texts.size === 0 ? undefined : [...texts].join("; ")
}
