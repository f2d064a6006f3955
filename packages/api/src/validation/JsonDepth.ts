import { MAX_JSON_DEPTH } from "@runplane/domain"

/** Whether arrays and objects are nested deeper than `MAX_JSON_DEPTH`: serialisers recurse. Does not recurse deeper itself. */
export const isTooDeep = (value: unknown, depth = 0): boolean => {
  if (typeof value !== "object" || value === null) return false
  if (depth >= MAX_JSON_DEPTH) return true
  for (const inner of Object.values(value)) {
    if (isTooDeep(inner, depth + 1)) return true
  }
  return false
}
