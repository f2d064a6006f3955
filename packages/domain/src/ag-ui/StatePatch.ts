import type * as Schema from "effect/Schema"
import { isJsonArray, isJsonObject } from "../values/JsonReader.ts"
import type { PatchOperation } from "./AgUiEvent.ts"

/** Items that leave a list at its front before the patch replaces the whole list. */
const MOST_DROPPED = 50

/**
 * The JSON Patch (RFC 6902) from one value to another; undefined when it needs more than `most` operations. Values of a
 * fold share their unchanged parts, so the walk skips equal references, and a list that drops its oldest items and
 * appends new ones becomes those removals and additions.
 */
export const patchOf = (
  before: Schema.Json,
  after: Schema.Json,
  most: number
): ReadonlyArray<PatchOperation> | undefined => {
  const operations: Array<PatchOperation> = []
  return addPatch({ operations, most }, "", before, after) ? operations : undefined
}

interface Patch {
  readonly operations: Array<PatchOperation>
  readonly most: number
}

/** Adds the operations for the value at a path; false when there are too many. */
const addPatch = (patch: Patch, path: string, before: Schema.Json, after: Schema.Json): boolean => {
  if (before === after) return true
  if (isJsonArray(before) && isJsonArray(after)) return addList(patch, path, before, after)
  if (isJsonObject(before) && isJsonObject(after)) return addMembers(patch, path, before, after)
  return add(patch, { op: "replace", path, value: after })
}

const add = ({ most, operations }: Patch, operation: PatchOperation): boolean => operations.push(operation) <= most

const addMembers = (patch: Patch, path: string, before: Schema.JsonObject, after: Schema.JsonObject): boolean => {
  for (const key of Object.keys(before)) {
    if (!hasMember(after, key) && !add(patch, { op: "remove", path: memberPath(path, key) })) return false
  }
  for (const [key, value] of Object.entries(after)) {
    const at = memberPath(path, key)
    const old = hasMember(before, key) ? before[key] : undefined
    const isAdded = old === undefined ? add(patch, { op: "add", path: at, value }) : addPatch(patch, at, old, value)
    if (!isAdded) return false
  }
  return true
}

const hasMember = (object: Schema.JsonObject, key: string): boolean => Object.hasOwn(object, key)

const memberPath = (path: string, key: string): string => `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`

const addList = (patch: Patch, path: string, before: Schema.JsonArray, after: Schema.JsonArray): boolean => {
  const dropped = droppedItems(before, after)
  if (dropped === undefined) return add(patch, { op: "replace", path, value: after })
  for (let at = 0; at < dropped; at++) if (!add(patch, { op: "remove", path: `${path}/0` })) return false
  const common = before.length - dropped
  for (const [at, value] of after.entries()) {
    const old = at < common ? before[at + dropped] : undefined
    const isAdded =
      old === undefined
        ? add(patch, { op: "add", path: `${path}/-`, value })
        : addPatch(patch, `${path}/${at}`, old, value)
    if (!isAdded) return false
  }
  return true
}

/** How many items the list dropped at its front; undefined when it changed in another way. */
const droppedItems = (before: Schema.JsonArray, after: Schema.JsonArray): number | undefined => {
  const [first] = after
  const at = first === undefined ? -1 : before.slice(0, MOST_DROPPED + 1).indexOf(first)
  const dropped = Math.max(at, 0)
  return before.length - dropped <= after.length ? dropped : undefined
}
