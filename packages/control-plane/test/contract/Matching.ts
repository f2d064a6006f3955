import { isObject } from "./Declared.ts"

/** Expected in position of a value: the key must not be there. */
export const absent: unique symbol = Symbol("absent")

/** Expected in position of an object: these keys and no others. */
export class Keys {
  readonly names: ReadonlyArray<string>
  constructor(...names: ReadonlyArray<string>) {
    this.names = names.toSorted()
  }
}

const show = (value: unknown) => {
  if (typeof value === "function" || value instanceof RegExp) return String(value)
  return (JSON.stringify(value) ?? String(value)).slice(0, 300)
}

/**
 * Where a value differs from what is expected of it. Objects may have more keys than expected, arrays not more items; a
 * pattern is expected of texts, a function is a condition.
 */
export const differences = (actual: unknown, expected: unknown, position = "body"): ReadonlyArray<string> => {
  const differs = [`${position}: expected ${show(expected)}, found ${show(actual)}`]
  if (expected === absent) return actual === undefined ? [] : differs
  if (expected instanceof RegExp) return typeof actual === "string" && expected.test(actual) ? [] : differs
  if (typeof expected === "function") return expected(actual) === true ? [] : differs
  if (expected instanceof Keys) {
    const keys = isObject(actual) ? Object.keys(actual).toSorted() : []
    return JSON.stringify(keys) === JSON.stringify(expected.names)
      ? []
      : [`${position}: found the keys ${keys.join(", ")}`]
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length) return differs
    return expected.flatMap((item, index) => differences(actual[index], item, `${position}.${index}`))
  }
  if (!isObject(expected)) return Object.is(actual, expected) ? [] : differs
  if (!isObject(actual)) return differs
  return Object.entries(expected).flatMap(([key, item]) => differences(actual[key], item, `${position}.${key}`))
}

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
export const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
export const TRACE_ID = /^[0-9a-f]{32}$/
export const isText = (value: unknown): boolean => typeof value === "string"
export const isCount = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0
export const isList = (value: unknown): boolean => Array.isArray(value)
/** A list of exactly one or more items that are all as expected. */
export const listOf =
  (expected: unknown) =>
  (value: unknown): boolean =>
    Array.isArray(value) && value.length > 0 && value.every((item) => differences(item, expected).length === 0)
/** A list with at least one item as expected. */
export const including =
  (expected: unknown) =>
  (value: unknown): boolean =>
    Array.isArray(value) && value.some((item) => differences(item, expected).length === 0)
