import { type CanonicalEvent, decodeEvent } from "@runplane/domain"
import * as Result from "effect/Result"

/** What is kept of an event that is shortened: characters of a text, members of a list or an object, and in all. */
const LONGEST_TEXT = 1_000
const MOST_MEMBERS = 64
const MOST_IN_ALL = 200
/** Characters of all its texts; once they are used up, of each that follows. */
const TEXTS_IN_ALL = 4_000
const TEXT_AFTERWARDS = 64
/** A longer name is nobody's that this console knows. */
const LONGEST_NAME = 64

/** An object or a member, in memory; a character takes two bytes at most. */
const OF_A_MEMBER = 48

/** About how much memory JSON takes, bytes: rather more than less. */
export const sizeOf = (json: unknown): number => {
  let bytes = 0
  // Not by recursion: how deep it is was decided by somebody else.
  const left: Array<unknown> = [json]
  while (left.length > 0) {
    const value = left.pop()
    bytes += OF_A_MEMBER
    if (typeof value === "string") bytes += 2 * value.length
    else if (Array.isArray(value)) for (const item of value) left.push(item)
    else if (typeof value === "object" && value !== null) {
      for (const [name, member] of Object.entries(value)) {
        bytes += 2 * name.length
        left.push(member)
      }
    }
  }
  return bytes
}

const shortened = new WeakSet<CanonicalEvent>()

/** Whether it is shortened: to be shown whole it is read once more. */
export const isShortened = (event: CanonicalEvent): boolean => shortened.has(event)

/** The event with its long texts cut and only the first of many members; the type and what it is about stay. */
export const shorten = (event: CanonicalEvent): CanonicalEvent => {
  const short = Result.getOrElse(decodeEvent(shortJson(event.recorded)), () => event)
  shortened.add(short)
  return short
}

/** An event that is not shortened while it is smaller, bytes. */
export const SMALL_BYTES = 8 * 1024

/** The event, shortened when it is large. */
export const inBounds = (event: CanonicalEvent): CanonicalEvent =>
  sizeOf(event.recorded) < SMALL_BYTES ? event : shorten(event)

/** Level after level, so that what is deep inside does not take the room of what is outside. */
const shortJson = (json: unknown): unknown => {
  let count = 0
  let room = TEXTS_IN_ALL
  const levels: Array<() => void> = []
  const copy = (value: unknown): unknown => {
    if (typeof value === "string") {
      const most = Math.max(TEXT_AFTERWARDS, Math.min(LONGEST_TEXT, room))
      room -= Math.min(value.length, most)
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
  // A part of a text keeps all of it in memory; what is parsed anew stands by itself.
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
