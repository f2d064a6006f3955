/** The value of a label that is beyond a bound. */
export const OTHER_LABEL = "other"

/** UTF-16 code units of a label's value. */
export const MAX_LABEL_LENGTH = 64

const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u

const isPrintable = (value: string): boolean => value.length <= MAX_LABEL_LENGTH && !UNPRINTABLE.test(value)

/** Whether a value is among the first `limit` different ones. */
export const amongFirst = (limit: number): ((value: string) => boolean) => {
  const first = new Set<string>()
  return (value) => {
    if (first.has(value)) return true
    if (first.size >= limit) return false
    first.add(value)
    return true
  }
}

/**
 * Bounds a label whose values come from agents (docs/http.md#metrics-endpoint). A value over `MAX_LABEL_LENGTH`, one
 * with control or format characters, and every new value after the first `limit` ones become `other`.
 */
export const boundedLabel = (limit: number): ((value: string) => string) => {
  const isKnown = amongFirst(limit)
  return (value) => (isPrintable(value) && isKnown(value) ? value : OTHER_LABEL)
}
