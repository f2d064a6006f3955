import { type Attributes, type AttributeValue, cleanText, type Emitter, type Sliced } from "@runplane/domain"
import {
  beginningOf,
  boundContent,
  MOST_TEXT_BYTES,
  ReadAttributes,
  type RequestBounds,
  TOO_DEEP,
  TOO_MANY
} from "./Bounds.ts"
import { type Collector, emitterOf, logName, statusOf } from "./Collect.ts"
import { JsonCursor, type JsonPart, JsonUnreadable, LIST, OBJECT } from "./JsonCursor.ts"
import { CUT_KEY, type LongText, parsePart, TooManyMembers } from "./JsonCut.ts"
import { doubleOf, integerOf } from "./ProtobufValues.ts"

type Fields = { readonly [name: string]: unknown }

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {})
const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

/** Ids are hex in OTLP, of either case. */
const idOf = (value: unknown): string => (typeof value === "string" && value.length <= 32 ? value.toLowerCase() : "")

/** Names of the lists of one kind of request. */
export interface JsonNames {
  readonly groups: "resourceSpans" | "resourceLogs"
  readonly scopes: "scopeSpans" | "scopeLogs"
  readonly items: "spans" | "logRecords"
}

/** Where the parts of a group are. */
interface Group {
  resource: JsonPart | undefined
  readonly scopes: Array<Scoped>
}
interface Scoped {
  scope: JsonPart | undefined
  readonly items: Array<JsonPart>
}

interface ParsedFields {
  readonly fields: Fields
  readonly texts: ReadonlyArray<LongText>
}

/** Reads a parsed span or log record. */
export type ReadFields = (
  fields: Fields,
  emitter: Emitter,
  collector: Collector,
  bounds: RequestBounds,
  texts: ReadonlyArray<LongText>
) => Sliced<void>

/**
 * Reads a request: each resource, scope, span and log record is parsed by itself, when its group was scanned. Throws
 * JsonUnreadable when it is not JSON, or the list of resources is not a list.
 */
export function* readJson(
  bytes: Uint8Array,
  names: JsonNames,
  item: ReadFields,
  collector: Collector,
  bounds: RequestBounds
): Sliced<void> {
  const cursor = new JsonCursor(bytes)
  let found = 0

  /** The list at the cursor; another value is not read. */
  const eachOf = function* (visit: () => Sliced<void>, empty: (part: JsonPart) => void): Sliced<void> {
    if (cursor.next() === LIST[0]) yield* cursor.elements(visit, empty)
    else yield* cursor.ignore()
  }
  /** The members of the element at the cursor; one that is not an object has none. */
  const membersOf = function* (visit: (key: string) => Sliced<void>): Sliced<void> {
    if (cursor.next() === OBJECT[0]) yield* cursor.members(visit)
    else yield* cursor.ignore()
  }
  const ignored = function* (): Sliced<void> {
    if (bounds.isDue(cursor.at)) yield
    bounds.pass()
    yield* cursor.ignore()
  }

  const scanScoped = function* (group: Group, isKept: boolean): Sliced<void> {
    if (bounds.isDue(cursor.at)) yield
    const scoped: Scoped = { scope: undefined, items: [] }
    if (collector.addGroup("scope") && isKept) group.scopes.push(scoped)
    const add = (part: JsonPart) => {
      if (!isKept || found >= bounds.limits.spans) return collector.rejectBeyondBound()
      found++
      scoped.items.push(part)
    }
    const scanItem = function* (): Sliced<void> {
      if (bounds.isDue(cursor.at)) yield
      add(yield* cursor.skip())
    }
    yield* membersOf(function* (key) {
      if (key === "scope") scoped.scope = yield* cursor.skip()
      else if (key === names.items) yield* eachOf(scanItem, add)
      else yield* ignored()
    })
  }
  const emptyScope = () => void collector.addGroup("scope")
  const emptyGroup = () => void collector.addGroup("resource")
  const readGroup = function* (): Sliced<void> {
    if (bounds.isDue(cursor.at)) yield
    const isKept = collector.addGroup("resource")
    const group: Group = { resource: undefined, scopes: [] }
    yield* membersOf(function* (key) {
      if (key === "resource") group.resource = yield* cursor.skip()
      else if (key === names.scopes) yield* eachOf(() => scanScoped(group, isKept), emptyScope)
      else yield* ignored()
    })
    if (group.scopes.some(({ items }) => items.length > 0)) yield* readItems(group)
  }
  const parsed = function* (part: JsonPart | undefined): Sliced<ParsedFields> {
    if (part === undefined) return { fields: {}, texts: [] }
    const { texts, value } = yield* parsePart(bytes, part, bounds)
    return { fields: fieldsOf(value), texts }
  }
  /** A resource or a scope with too many members has none. */
  const parsedOrDropped = function* (part: JsonPart | undefined): Sliced<ParsedFields> {
    try {
      return yield* parsed(part)
    } catch (fault) {
      if (!(fault instanceof TooManyMembers)) throw fault
      bounds.drop("attributes")
      return { fields: {}, texts: [] }
    }
  }
  const readItems = function* ({ resource, scopes }: Group): Sliced<void> {
    const { fields, texts } = yield* parsedOrDropped(resource)
    bounds.begin("resource")
    const attributes = yield* readAttributes(fields["attributes"], bounds, texts)
    for (const { items, scope } of scopes) {
      const named = yield* parsedOrDropped(scope)
      const emitter = emitterOf(
        attributes,
        textOf(named.fields["name"], named.texts),
        textOf(named.fields["version"], named.texts)
      )
      for (const part of items) {
        if (bounds.isDue(part.from)) yield
        try {
          const one = yield* parsed(part)
          bounds.begin("item")
          yield* item(one.fields, emitter, collector, bounds, one.texts)
        } catch (fault) {
          if (!(fault instanceof TooManyMembers)) throw fault
          collector.reject("a span or log record has too many members")
        }
      }
    }
  }

  if (cursor.next() !== OBJECT[0]) throw new JsonUnreadable("it is not a JSON object")
  yield* cursor.members(function* (key) {
    if (key !== names.groups) return yield* ignored()
    if (cursor.next() === LIST[0]) return yield* cursor.elements(readGroup, emptyGroup)
    if (cursor.next() !== NULL_BEGIN) throw new JsonUnreadable(`"${names.groups}" is not a list`)
    yield* cursor.ignore()
  })
  cursor.end()
}

/** The first byte of `null`. */
const NULL_BEGIN = 0x6e

/** A text; of one that was too long to be parsed the beginning within `bytes`, with a mark. */
const textOf = (value: unknown, texts: ReadonlyArray<LongText>, bytes = SHORT_TEXT_BYTES): string => {
  if (typeof value === "string") return value
  const long = longOf(value, texts)
  return long === undefined ? "" : beginningOf(long.beginning, long.bytes, bytes)
}

const longOf = (value: unknown, texts: ReadonlyArray<LongText>): LongText | undefined => {
  const number = fieldsOf(value)[CUT_KEY]
  return typeof number === "number" ? texts[number] : undefined
}

const SHORT_TEXT_BYTES = 1_024

export const readJsonSpan: ReadFields = function* (span, emitter, collector, bounds, texts) {
  const { code, message } = fieldsOf(span["status"])
  const most = bounds.limits.attributes
  const attributes = yield* readAttributes(span["attributes"], bounds, texts)
  const events: Array<{ name: string; at: string; attributes: Attributes }> = []
  for (const event of firstOf(listOf(span["events"]), most, "events", bounds).map(fieldsOf)) {
    const name = bounds.of(textOf(event["name"], texts)).name
    const at = String(timeOf(event["timeUnixNano"]))
    events.push({ name, at, attributes: yield* readAttributes(event["attributes"], bounds, texts) })
  }
  const links: Array<{ traceId: string; spanId: string; attributes: Attributes }> = []
  for (const link of firstOf(listOf(span["links"]), most, "links", bounds).map(fieldsOf)) {
    const ids = { traceId: idOf(link["traceId"]), spanId: idOf(link["spanId"]) }
    links.push({ ...ids, attributes: yield* readAttributes(link["attributes"], bounds, texts) })
  }
  collector.addSpan({
    ...emitter,
    traceId: idOf(span["traceId"]),
    spanId: idOf(span["spanId"]),
    parentSpanId: idOf(span["parentSpanId"]),
    name: textOf(span["name"], texts),
    start: timeOf(span["startTimeUnixNano"]),
    end: timeOf(span["endTimeUnixNano"]),
    ...statusOf(Number(code ?? 0), textOf(message, texts, bounds.limits.valueBytes), bounds.limits),
    attributes,
    events,
    links
  })
}

const firstOf = (list: ReadonlyArray<unknown>, most: number, what: "events" | "links", bounds: RequestBounds) => {
  if (list.length <= most) return list
  bounds.drop(what, list.length - most)
  return list.slice(0, most)
}

export const readJsonLog: ReadFields = function* (record, emitter, collector, bounds, texts) {
  const attributes = yield* readAttributes(record["attributes"], bounds, texts)
  const { contentBytes } = bounds.limits
  const body = isFields(record["body"])
    ? boundContent(readValue(record["body"], allowanceFor(contentBytes, bounds, texts), bounds), bounds.limits)
    : undefined
  collector.addLog({
    ...emitter,
    traceId: idOf(record["traceId"]),
    spanId: idOf(record["spanId"]),
    name: logName(textOf(record["eventName"], texts), attributes["event.name"]),
    time: timeOf(record["timeUnixNano"]),
    observed: timeOf(record["observedTimeUnixNano"]),
    ...(body !== undefined && { body }),
    attributes
  })
}

/** One without a name is left out; of two with one name the last counts. */
function* readAttributes(pairs: unknown, bounds: RequestBounds, texts: ReadonlyArray<LongText>): Sliced<Attributes> {
  const attributes = new ReadAttributes()
  for (const pair of listOf(pairs)) {
    if (!attributes.mayRead()) {
      bounds.drop("attributes")
      continue
    }
    const { key, value } = fieldsOf(pair)
    if (longOf(key, texts) !== undefined) bounds.drop("attributes")
    if (typeof key !== "string" || key === "" || key === "__proto__") continue
    const bounded = bounds.of(key)
    const allowance = allowanceFor(bounds.bytesFor(bounded), bounds, texts)
    attributes.add(bounded, readValue(value, allowance, bounds), bounds)
    if (bounds.isDueAfter(MOST_TEXT_BYTES - allowance.textBytes)) yield
  }
  return bounds.within(attributes)
}

/** What a value may still have: members of lists and maps, and bytes of texts in it. */
interface Allowance {
  fields: number
  textBytes: number
  readonly bytes: number
  readonly texts: ReadonlyArray<LongText>
}

const allowanceFor = (bytes: number, { valueFields }: RequestBounds, texts: ReadonlyArray<LongText>): Allowance => ({
  fields: Math.min(bytes, valueFields),
  textBytes: MOST_TEXT_BYTES,
  bytes,
  texts
})

const isSpent = (allowance: Allowance): boolean => allowance.fields <= 0 || allowance.textBytes <= 0

const readValue = (value: unknown, allowance: Allowance, bounds: RequestBounds): AttributeValue => {
  const { fields } = allowance
  const read = readAny(value, bounds.limits.nesting, allowance)
  bounds.valueFields -= fields - allowance.fields
  if (allowance.textBytes <= 0 || (allowance.fields <= 0 && fields > 0)) bounds.drop("values")
  return read
}

/** A value of OTLP; null when it has no content. */
const readAny = (value: unknown, levels: number, allowance: Allowance): AttributeValue => {
  const fields = fieldsOf(value)
  const text = fields["stringValue"]
  if (typeof text === "string" || longOf(text, allowance.texts) !== undefined) return readText(text, allowance)
  if (typeof fields["boolValue"] === "boolean") return fields["boolValue"]
  if (fields["intValue"] !== undefined) return wholeNumber(fields["intValue"])
  if (fields["doubleValue"] !== undefined) return decimalNumber(fields["doubleValue"])
  const bytes = fields["bytesValue"]
  if (typeof bytes === "string" || longOf(bytes, allowance.texts) !== undefined) return readText(bytes, allowance)
  const list = fields["arrayValue"]
  const map = fields["kvlistValue"]
  if (levels <= 0 && (list ?? map) !== undefined) return TOO_DEEP
  if (list !== undefined) return readList(listOf(fieldsOf(list)["values"]), levels, allowance)
  return map === undefined ? null : readMap(listOf(fieldsOf(map)["values"]), levels, allowance)
}

/** A text in a list fits beside others when it is cut. */
const readText = (value: unknown, allowance: Allowance): string => {
  const text = cleanText(textOf(value, allowance.texts, allowance.bytes / 4))
  allowance.textBytes -= longOf(value, allowance.texts)?.bytes ?? text.length
  return text
}

/** Whether a member stands for all that were cut before they were parsed. */
const isCut = (member: unknown): boolean => fieldsOf(member)[CUT_KEY] === -1

const readList = (values: ReadonlyArray<unknown>, levels: number, allowance: Allowance): AttributeValue => {
  const list: Array<AttributeValue> = []
  for (const member of values) {
    if (isSpent(allowance) || isCut(member)) return [...list, TOO_MANY]
    allowance.fields--
    list.push(readAny(member, levels - 1, allowance))
  }
  return list
}

const readMap = (pairs: ReadonlyArray<unknown>, levels: number, allowance: Allowance): AttributeValue => {
  const map = new Map<string, AttributeValue>()
  for (const pair of pairs) {
    if (isSpent(allowance) || isCut(pair)) {
      map.set("…", TOO_MANY)
      break
    }
    allowance.fields--
    const { key, value } = fieldsOf(pair)
    if (key !== "__proto__") map.set(readText(key, allowance), readAny(value, levels - 1, allowance))
  }
  return Object.fromEntries(map)
}

const INTEGER = /^[+-]?\d{1,20}$/

/** Integers are numbers or decimal texts; null for anything else. */
const wholeNumber = (value: unknown): AttributeValue => {
  if (typeof value === "string" && INTEGER.test(value)) return integerOf(BigInt(value.replace("+", "")))
  return typeof value === "number" && Number.isInteger(value) ? integerOf(BigInt(value)) : null
}

const decimalNumber = (value: unknown): AttributeValue => {
  const number = typeof value === "string" ? Number(value) : value
  return typeof number === "number" ? doubleOf(number) : null
}

/** A time in nanoseconds, as a text or a number; 0 when it is absent or not a time. */
const timeOf = (value: unknown): bigint => {
  if (typeof value === "string") return /^\d{1,20}$/.test(value) ? withinFixed64(BigInt(value)) : 0n
  return typeof value === "number" && Number.isInteger(value) && value > 0 ? withinFixed64(BigInt(value)) : 0n
}

const withinFixed64 = (time: bigint): bigint => (time < 2n ** 64n ? time : 0n)
