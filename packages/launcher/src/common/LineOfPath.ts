import { jsonFault, jsonFaultText } from "@runplane/domain"
import { EVENT_ID, type Event, getScalarValue, parseEvents } from "js-yaml"

/**
 * What a JSON file says that would not be read as it is written (docs/reference/packs.md#exact-numbers), with its field
 * and line; undefined for a good file, and for text that is not JSON.
 */
export const jsonFaultInFile = (text: string): string | undefined => {
  const fault = jsonFault(text)
  return fault && `${jsonFaultText(fault)} (line ${lineAt(text, fault.offset)})`
}

/**
 * The line, from 1, of the value at a path of mapping keys and sequence indexes. When the end of the path is missing
 * from the text (a missing key, an include), it is the line of the last key that exists. JSON counts as YAML.
 */
export const lineOfPath = (text: string, path: ReadonlyArray<string>): number | undefined => {
  const events = eventsOf(text)
  let at = events.findIndex(({ type }) => type === EVENT_ID.DOCUMENT) + 1
  for (const key of path) {
    const found = childOf(text, events, at, key)
    if (found === undefined) break
    at = found
  }
  const start = startOf(events[at])
  return start === undefined ? undefined : lineAt(text, start)
}

/** The index of the event that begins the value of a key or index of the collection that begins at an event. */
const childOf = (text: string, events: ReadonlyArray<Event>, parent: number, key: string): number | undefined => {
  const type = events[parent]?.type
  if (type !== EVENT_ID.MAPPING && type !== EVENT_ID.SEQUENCE) return undefined
  let at = parent + 1
  for (let index = 0; at < events.length && events[at]?.type !== EVENT_ID.POP; index++) {
    if (type === EVENT_ID.SEQUENCE) {
      if (String(index) === key) return at
      at = behind(events, at)
      continue
    }
    const name = events[at]
    const value = behind(events, at)
    if (name?.type === EVENT_ID.SCALAR && getScalarValue(text, name) === key) return value
    at = behind(events, value)
  }
  return undefined
}

/** The index behind the value that begins at an event. */
const behind = (events: ReadonlyArray<Event>, from: number): number => {
  let depth = 0
  for (let at = from; at < events.length; at++) {
    const type = events[at]?.type
    if (type === EVENT_ID.MAPPING || type === EVENT_ID.SEQUENCE) depth++
    if (type === EVENT_ID.POP) depth--
    if (depth === 0) return at + 1
  }
  return events.length
}

/** The offset of the value that an event begins; undefined for an event that begins none. */
export const startOf = (event: Event | undefined): number | undefined => {
  switch (event?.type) {
    case EVENT_ID.MAPPING:
    case EVENT_ID.SEQUENCE:
      return event.start
    case EVENT_ID.SCALAR:
      return event.tagStart >= 0 ? event.tagStart : event.valueStart
    case EVENT_ID.ALIAS:
      return event.anchorStart
    default:
      return undefined
  }
}

/** The line, from 1, of an offset in a text. */
export const lineAt = (text: string, offset: number): number => text.slice(0, offset).split("\n").length

/** The events of YAML text; none when the text is not YAML, such as JSON indented with tabs. */
export const eventsOf = (text: string): ReadonlyArray<Event> => {
  try {
    return parseEvents(text, {})
  } catch {
    return []
  }
}
