/** The value of all labels past the bound. */
export const OTHER_LABEL = "other"

/**
 * Keeps a label whose values come from agents from making series without end: the first `limit` different values are
 * themselves, later ones are `other`.
 */
export const boundedLabel = (limit: number): ((value: string) => string) => {
  const known = new Set<string>()
  return (value) => {
    if (known.has(value)) return value
    if (known.size >= limit) return OTHER_LABEL
    known.add(value)
    return value
  }
}
