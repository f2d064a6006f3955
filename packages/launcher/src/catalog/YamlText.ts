import * as Result from "effect/Result"
import {
  defineScalarTag,
  EVENT_ID,
  type Event,
  getScalarValue,
  JSON_SCHEMA,
  loadAll,
  parseEvents,
  YAMLException
} from "js-yaml"
import { InvalidPackData } from "../common/LaunchErrors.ts"

/** The argument of an `!include` tag, kept in the parsed tree until `PackFiles` replaces it by the file's content. */
export class IncludeTag {
  readonly argument: string
  constructor(argument: string) {
    this.argument = argument
  }
}

/**
 * Parses one YAML file of a pack: the JSON schema (no timestamps, no yes/no
 * booleans, no merge keys), anchors and aliases, plus the `!include` tag. `undefined` means "no document": an empty
 * file, only comments, or only `---`.
 */
export const parseYaml = (text: string, file: string): Result.Result<unknown, InvalidPackData> =>
  Result.try({
    try: () => {
      const documents = loadAll(text, { schema: packSchema })
      if (documents.length > 1) throw new Error("expected a single document, but found more")
      return documents[0] === "" ? undefined : documents[0]
    },
    catch: (cause) => new InvalidPackData({ file, message: `invalid YAML in ${file}: ${reasonOf(cause)}` })
  })

/**
 * The line, from 1, of the value at a path of mapping keys and sequence indexes. Where the path leads further than the
 * text, because the key is missing or comes from an include, it is the line of what is there of it.
 */
export const lineOfPath = (text: string, path: ReadonlyArray<string>): number | undefined => {
  const events = parseEvents(text, {})
  let at = events.findIndex(({ type }) => type === EVENT_ID.DOCUMENT) + 1
  for (const key of path) {
    const found = childOf(text, events, at, key)
    if (found === undefined) break
    at = found
  }
  const start = startOf(events[at])
  return start === undefined ? undefined : text.slice(0, start).split("\n").length
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

const startOf = (event: Event | undefined): number | undefined => {
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

const packSchema = JSON_SCHEMA.withTags(
  defineScalarTag("!include", { resolve: (source) => new IncludeTag(source.trim()), identify: () => false })
)

const reasonOf = (cause: unknown): string => {
  if (cause instanceof YAMLException) {
    return cause.mark === undefined ? cause.reason : `${cause.reason} (line ${cause.mark.line + 1})`
  }
  return cause instanceof Error ? cause.message : String(cause)
}
