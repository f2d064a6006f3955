/**
 * Two properties that every accepted JSON value has, so that no later step can fail on it: its nesting is bounded
 * (serialisers recurse), and its texts hold no U+0000 and no lone surrogate (PostgreSQL stores neither).
 */
export const MAX_JSON_DEPTH = 64

/** Whether arrays and objects are nested deeper than `MAX_JSON_DEPTH`. Does not recurse deeper than that. */
export const isTooDeep = (value: unknown, depth = 0): boolean => {
  if (typeof value !== "object" || value === null) return false
  if (depth >= MAX_JSON_DEPTH) return true
  for (const inner of Object.values(value)) {
    if (isTooDeep(inner, depth + 1)) return true
  }
  return false
}

/** A text with U+0000 and lone surrogates replaced by U+FFFD. */
export const storableText = (text: string): string => {
  const wellFormed = text.isWellFormed() ? text : text.toWellFormed()
  return wellFormed.includes("\u0000") ? wellFormed.replaceAll("\u0000", "\uFFFD") : wellFormed
}

/** The same value with every text and key storable; the value itself when nothing had to change. */
export const storable = (value: unknown): unknown => {
  if (typeof value === "string") return storableText(value)
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) {
    const items = value.map(storable)
    return items.some((item, index) => item !== value[index]) ? items : value
  }
  const entries = Object.entries(value)
  let changed = false
  const mapped = entries.map(([key, inner]): [string, unknown] => {
    const newKey = storableText(key)
    const newInner = storable(inner)
    if (newKey !== key || newInner !== inner) changed = true
    return [newKey, newInner]
  })
  return changed ? Object.fromEntries(mapped) : value
}
