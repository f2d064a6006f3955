import { type Attributes, type AttributeValue, cleanText, type Emitter, type Sliced } from "@runplane/domain"
import { addTo, boundContent, type ReadAttributes, type RequestBounds, TOO_DEEP, TOO_MANY } from "./Bounds.ts"
import { type Collector, emitterOf, logName, statusOf } from "./Collect.ts"
import { JsonUnreadable, splitJson } from "./JsonItems.ts"
import { doubleOf, integerOf } from "./ProtobufReader.ts"

type Fields = { readonly [name: string]: unknown }

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {})
const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])
const textOf = (value: unknown): string => (typeof value === "string" ? value : "")

/** Ids are hex in OTLP, of either case. */
const idOf = (value: unknown): string => (typeof value === "string" && value.length <= 32 ? value.toLowerCase() : "")

/** Names of the lists of one kind of request. */
export interface JsonNames {
  readonly groups: "resourceSpans" | "resourceLogs"
  readonly scopes: "scopeSpans" | "scopeLogs"
  readonly items: "spans" | "logRecords"
}

/** Reads a request. Throws JsonUnreadable when it is not JSON, or the list of resources is not a list. */
export function* readJson(
  bytes: Uint8Array,
  names: JsonNames,
  item: (fields: Fields, emitter: Emitter) => void,
  collector: Collector,
  bounds: RequestBounds
): Sliced<void> {
  const { body, take } = yield* splitJson(bytes, names.items, bounds.limits.spans)
  if (!isFields(body)) throw new JsonUnreadable("it is not a JSON object")
  const groups = body[names.groups] ?? []
  if (!Array.isArray(groups)) throw new JsonUnreadable(`"${names.groups}" is not a list`)
  for (const group of groups) {
    const { resource, [names.scopes]: scopes } = fieldsOf(group)
    const attributes = readAttributes(fieldsOf(resource)["attributes"], bounds)
    for (const scoped of listOf(scopes)) {
      const { scope, [names.items]: items } = fieldsOf(scoped)
      const { name, version } = fieldsOf(scope)
      const emitter = emitterOf(attributes, textOf(name), textOf(version))
      for (const one of listOf(items)) {
        if (collector.isFull) collector.rejectBeyondBound()
        else item(fieldsOf(typeof one === "number" ? take(one) : one), emitter)
        yield
      }
    }
  }
}

export const readJsonSpan = (span: Fields, emitter: Emitter, collector: Collector, bounds: RequestBounds) => {
  const { code, message } = fieldsOf(span["status"])
  collector.addSpan({
    ...emitter,
    traceId: idOf(span["traceId"]),
    spanId: idOf(span["spanId"]),
    parentSpanId: idOf(span["parentSpanId"]),
    name: textOf(span["name"]),
    start: timeOf(span["startTimeUnixNano"]),
    end: timeOf(span["endTimeUnixNano"]),
    ...statusOf(Number(code ?? 0), textOf(message), bounds.limits),
    attributes: readAttributes(span["attributes"], bounds),
    events: listOf(span["events"])
      .slice(0, bounds.limits.attributes)
      .map(fieldsOf)
      .map((event) => ({
        name: cleanText(textOf(event["name"])),
        at: String(timeOf(event["timeUnixNano"])),
        attributes: readAttributes(event["attributes"], bounds)
      })),
    links: listOf(span["links"])
      .slice(0, bounds.limits.attributes)
      .map(fieldsOf)
      .map((link) => ({
        traceId: idOf(link["traceId"]),
        spanId: idOf(link["spanId"]),
        attributes: readAttributes(link["attributes"], bounds)
      }))
  })
}

export const readJsonLog = (record: Fields, emitter: Emitter, collector: Collector, bounds: RequestBounds) => {
  const attributes = readAttributes(record["attributes"], bounds)
  const { contentBytes, nesting } = bounds.limits
  const body = isFields(record["body"]) ? readValue(record["body"], nesting, contentBytes) : undefined
  collector.addLog({
    ...emitter,
    traceId: idOf(record["traceId"]),
    spanId: idOf(record["spanId"]),
    name: logName(textOf(record["eventName"]), attributes["event.name"]),
    time: timeOf(record["timeUnixNano"]),
    observed: timeOf(record["observedTimeUnixNano"]),
    ...(body !== undefined && { body: boundContent(body, bounds.limits) }),
    attributes
  })
}

/** One without a name is left out; of two with one name the last counts. */
const readAttributes = (pairs: unknown, bounds: RequestBounds): Attributes => {
  const attributes: ReadAttributes = new Map()
  for (const pair of listOf(pairs)) {
    const { key, value } = fieldsOf(pair)
    if (typeof key !== "string" || key === "" || key === "__proto__") continue
    const bounded = bounds.of(key)
    addTo(attributes, bounded, readValue(value, bounds.limits.nesting, bounded.bytes))
  }
  return bounds.within(attributes)
}

/** A value of OTLP; null when it has no content. At most `members` members of a list or a map are read. */
const readValue = (value: unknown, levels: number, members: number): AttributeValue => {
  const fields = fieldsOf(value)
  if (typeof fields["stringValue"] === "string") return cleanText(fields["stringValue"])
  if (typeof fields["boolValue"] === "boolean") return fields["boolValue"]
  if (fields["intValue"] !== undefined) return wholeNumber(fields["intValue"])
  if (fields["doubleValue"] !== undefined) return decimalNumber(fields["doubleValue"])
  if (typeof fields["bytesValue"] === "string") return cleanText(fields["bytesValue"])
  const list = fields["arrayValue"]
  const map = fields["kvlistValue"]
  if (levels <= 0 && (list ?? map) !== undefined) return TOO_DEEP
  if (list !== undefined) {
    const values = listOf(fieldsOf(list)["values"])
    const read = values.slice(0, members).map((member) => readValue(member, levels - 1, members))
    return values.length > members ? [...read, TOO_MANY] : read
  }
  if (map === undefined) return null
  const pairs = listOf(fieldsOf(map)["values"])
  const read = pairs.slice(0, members).flatMap((pair): ReadonlyArray<readonly [string, AttributeValue]> => {
    const { key, value } = fieldsOf(pair)
    return key === "__proto__" ? [] : [[cleanText(textOf(key)), readValue(value, levels - 1, members)]]
  })
  return Object.fromEntries(pairs.length > members ? [...read, ["…", TOO_MANY]] : read)
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
