import { type CanonicalEvent, decodeEvent } from "@runplane/domain"
import * as Result from "effect/Result"

/** Limits of a shortened event: characters of a text, members of a list or an object, and members in all. */
const LONGEST_TEXT = 1_000
const MOST_MEMBERS = 64
const MOST_IN_ALL = 200
/** Characters of all texts together, and of each text beyond that. */
const TEXTS_IN_ALL = 4_000
const TEXT_AFTERWARDS = 64
/** The console uses no longer names. */
const LONGEST_NAME = 64

/** Bytes of an object or a member in memory; a character has at most two. */
const OF_A_MEMBER = 48

/** Estimates the memory of JSON in bytes, rather too high. */
export const sizeOf = (json: unknown): number => {
  let bytes = 0
  // Without recursion, because the depth is untrusted.
  const pending: Array<unknown> = [json]
  while (pending.length > 0) {
    const value = pending.pop()
    bytes += OF_A_MEMBER
    if (typeof value === "string") bytes += 2 * value.length
    else if (Array.isArray(value)) for (const item of value) pending.push(item)
    else if (typeof value === "object" && value !== null) {
      for (const [name, member] of Object.entries(value)) {
        bytes += 2 * name.length
        pending.push(member)
      }
    }
  }
  return bytes
}

const shortened = new WeakSet<CanonicalEvent>()

/** Whether the event is shortened, so that the whole event must be read. */
export const isShortened = (event: CanonicalEvent): boolean => shortened.has(event)

/** Cuts long texts and long lists of an event; its type and subject stay. */
export const shorten = (event: CanonicalEvent): CanonicalEvent => {
  const short = Result.getOrElse(decodeEvent(shortJson(event.recorded)), () => event)
  shortened.add(short)
  return short
}

/** Smaller events are not shortened. Bytes. */
export const SMALL_BYTES = 8 * 1024

/** The event, shortened if it is large. */
export const inBounds = (event: CanonicalEvent): CanonicalEvent =>
  sizeOf(event.recorded) < SMALL_BYTES ? event : shorten(event)

/** Breadth first, so that deep members do not use the capacity of outer ones. */
const shortJson = (json: unknown): unknown => {
  let count = 0
  let capacity = TEXTS_IN_ALL
  const levels: Array<() => void> = []
  const copy = (value: unknown): unknown => {
    if (typeof value === "string") {
      const most = Math.max(TEXT_AFTERWARDS, Math.min(LONGEST_TEXT, capacity))
      capacity -= Math.min(value.length, most)
      return value.length > most ? `${value.slice(0, most).toWellFormed()}…` : value
    }
    if (typeof value !== "object" || value === null) return value
    const to: Array<unknown> | Record<string, unknown> = Array.isArray(value) ? [] : {}
    levels.push(() => {
      for (const [name, member] of firstMembers(value)) {
        count += 1
        if (count > MOST_IN_ALL) return
        // A member may be called `__proto__`.
        Object.defineProperty(to, name, { value: copy(member), enumerable: true, writable: true, configurable: true })
      }
    })
    return to
  }
  const whole = copy(json)
  for (const fill of levels) fill()
  // A slice keeps its whole text in memory; a parsed copy does not.
  return JSON.parse(JSON.stringify(whole))
}

const firstMembers = (value: object): ReadonlyArray<readonly [string, unknown]> => {
  const members: Array<readonly [string, unknown]> = []
  for (const name in value) {
    if (members.length === MOST_MEMBERS) break
    if (name.length <= LONGEST_NAME) members.push([name, Reflect.get(value, name)])
  }
  return members
}
