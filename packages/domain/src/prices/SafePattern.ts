/** Characters of a pattern. */
export const MAX_PATTERN = 512
/** Quantifiers without an upper bound in one pattern: each multiplies the time of a match by the length of a name. */
const MAX_UNBOUNDED = 3

/**
 * Why a regular expression is not used for names; undefined where it is safe. Its time is bounded by what it allows.
 */
export const patternFault = (pattern: string): string | undefined => {
  if (pattern.length > MAX_PATTERN) return `must have at most ${MAX_PATTERN} characters`
  try {
    new RegExp(pattern, "i")
  } catch (error) {
    return `must be a regular expression: ${error instanceof Error ? error.message : "it cannot be read"}`
  }
  if (/\\[1-9k]/.test(pattern)) return "must not refer back to a group"
  const groups: Array<{ repeats: boolean }> = [{ repeats: false }]
  let closed: { readonly repeats: boolean } | undefined
  let unbounded = 0
  for (const [token] of pattern.matchAll(/\\.|\[(?:\\.|[^\]\\])*\]|\{\d+(?:,\d*)?\}|[\s\S]/g)) {
    const group = groups.at(-1)
    const isQuantifier = /^(?:[*+?]|\{\d+(?:,\d*)?\})$/.test(token)
    if (isQuantifier) {
      if (closed?.repeats === true && token !== "?")
        return "must not repeat a group that has a quantifier or an alternative in it"
      if (/^(?:[*+]|\{\d+,\})$/.test(token)) unbounded += 1
      if (group !== undefined) group.repeats = true
    }
    closed = undefined
    if (token === "(") groups.push({ repeats: false })
    else if (token === "|" && group !== undefined) group.repeats = true
    else if (token === ")") {
      closed = groups.pop()
      const outer = groups.at(-1)
      if (outer !== undefined && closed?.repeats === true) outer.repeats = true
    }
  }
  return unbounded > MAX_UNBOUNDED ? `must have at most ${MAX_UNBOUNDED} of *, + and {n,}` : undefined
}
