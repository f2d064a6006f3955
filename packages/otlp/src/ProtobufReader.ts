import { BinaryReader, WireType } from "@bufbuild/protobuf/wire"
import { type Attributes, type AttributeValue, cleanText, type Emitter, type Sliced } from "@runplane/domain"
import { addTo, boundContent, type ReadAttributes, type RequestBounds, TOO_DEEP, TOO_MANY } from "./Bounds.ts"
import { type Collector, emitterOf, logName, statusOf } from "./Collect.ts"

/**
 * Reads the fields of OTLP that runs are made of, straight from the bytes.
 *
 * Without this: the messages of the protobuf library hold a whole request, in which two bytes become an object of a
 * hundred, and the thread is busy until the last one is read; costs this file, and a test that compares both.
 */

const { Bit64, LengthDelimited, Varint } = WireType

/** A nested message: its bytes are those of the reader between two offsets. */
interface Part {
  readonly start: number
  readonly end: number
}

/**
 * Calls `visit` for each field up to the offset `end`, with the reader at its value. It returns false for a field that
 * it does not read, with an unexpected wire type too: the value is skipped, as the format demands of unknown fields.
 */
const eachField = (
  reader: BinaryReader,
  end: number,
  visit: (field: number, wire: WireType, reader: BinaryReader) => boolean
) => {
  while (reader.pos < end) {
    const [field, wire] = reader.tag()
    if (!visit(field, wire, reader)) reader.skip(wire, field)
  }
  if (reader.pos !== end) throw new RangeError("a field is longer than its message")
}

/** The end of the nested message that begins at the reader. */
const endOf = (reader: BinaryReader): number => {
  const length = reader.uint32()
  const end = reader.pos + length
  if (end > reader.len) throw new RangeError("a message is longer than the body")
  return end
}

const partAt = (reader: BinaryReader): Part => {
  const end = endOf(reader)
  const part = { start: reader.pos, end }
  reader.pos = end
  return part
}

/** The parts of the fields 1 and 2, which groups of resources and of scopes have alike. */
const partsOf = (reader: BinaryReader, { end, start }: Part) => {
  const first: Array<Part> = []
  const second: Array<Part> = []
  reader.pos = start
  eachField(reader, end, (field, wire) => {
    if (wire !== LengthDelimited || field > 2) return false
    if (field === 1) first.push(partAt(reader))
    else second.push(partAt(reader))
    return true
  })
  return [first, second] as const
}

/** Traces and logs nest alike: resources (1) hold their resource (1) and scopes (2) with a scope (1) and items (2). */
export function* readProtobuf(
  bytes: Uint8Array,
  item: (reader: BinaryReader, end: number, emitter: Emitter) => void,
  collector: Collector,
  bounds: RequestBounds
): Sliced<void> {
  const reader = new BinaryReader(bytes)
  const [groups] = partsOf(reader, { start: 0, end: reader.len })
  for (const group of groups) {
    const [resources, scopes] = partsOf(reader, group)
    const resource = readAttributes(reader, resources.at(-1), 1, bounds)
    for (const scoped of scopes) {
      const [named, items] = partsOf(reader, scoped)
      const emitter = readScope(reader, named.at(-1), resource)
      for (const { end, start } of items) {
        reader.pos = start
        if (collector.isFull) collector.rejectBeyondBound()
        else item(reader, end, emitter)
        yield
      }
    }
  }
}

const readScope = (reader: BinaryReader, part: Part | undefined, resource: Attributes): Emitter => {
  let name = ""
  let version = ""
  if (part !== undefined) {
    reader.pos = part.start
    eachField(reader, part.end, (field, wire) => {
      if (wire !== LengthDelimited) return false
      if (field === 1) name = reader.string()
      else if (field === 2) version = reader.string()
      else return false
      return true
    })
  }
  return emitterOf(resource, name, version)
}

export const readProtobufSpan = (
  reader: BinaryReader,
  end: number,
  emitter: Emitter,
  collector: Collector,
  bounds: RequestBounds
) => {
  let traceId = ""
  let spanId = ""
  let parentSpanId = ""
  let name = ""
  let start = 0n
  let ended = 0n
  let code = 0
  let message = ""
  const attributes: ReadAttributes = new Map()
  const events: Array<{ name: string; at: string; attributes: Attributes }> = []
  const links: Array<{ traceId: string; spanId: string; attributes: Attributes }> = []
  eachField(reader, end, (field, wire) => {
    if (wire === Bit64) {
      if (field === 7) start = BigInt(reader.fixed64())
      else if (field === 8) ended = BigInt(reader.fixed64())
      else return false
      return true
    }
    if (wire !== LengthDelimited) return false
    switch (field) {
      case 1:
        traceId = hexOf(reader.bytes())
        return true
      case 2:
        spanId = hexOf(reader.bytes())
        return true
      case 4:
        parentSpanId = hexOf(reader.bytes())
        return true
      case 5:
        name = reader.string()
        return true
      case 9:
        readAttribute(reader, attributes, bounds)
        return true
      case 11:
        if (events.length >= bounds.limits.attributes) return false
        events.push(readEvent(reader, bounds))
        return true
      case 13:
        if (links.length >= bounds.limits.attributes) return false
        links.push(readLink(reader, bounds))
        return true
      case 15:
        eachField(reader, endOf(reader), (part, type) => {
          if (part === 2 && type === LengthDelimited) message = reader.string()
          else if (part === 3 && type === Varint) code = reader.int32()
          else return false
          return true
        })
        return true
      default:
        return false
    }
  })
  collector.addSpan({
    ...emitter,
    traceId,
    spanId,
    parentSpanId,
    name,
    start,
    end: ended,
    ...statusOf(code, message, bounds.limits),
    attributes: bounds.within(attributes),
    events,
    links
  })
}

const readEvent = (reader: BinaryReader, bounds: RequestBounds) => {
  let at = "0"
  let name = ""
  const attributes: ReadAttributes = new Map()
  eachField(reader, endOf(reader), (field, wire) => {
    if (field === 1 && wire === Bit64) at = String(reader.fixed64())
    else if (field === 2 && wire === LengthDelimited) name = reader.string()
    else if (field === 3 && wire === LengthDelimited) readAttribute(reader, attributes, bounds)
    else return false
    return true
  })
  return { name: bounds.of(name).name, at, attributes: bounds.within(attributes) }
}

const readLink = (reader: BinaryReader, bounds: RequestBounds) => {
  let traceId = ""
  let spanId = ""
  const attributes: ReadAttributes = new Map()
  eachField(reader, endOf(reader), (field, wire) => {
    if (wire !== LengthDelimited) return false
    if (field === 1) traceId = hexOf(reader.bytes())
    else if (field === 2) spanId = hexOf(reader.bytes())
    else if (field === 4) readAttribute(reader, attributes, bounds)
    else return false
    return true
  })
  return { traceId, spanId, attributes: bounds.within(attributes) }
}

export const readProtobufLog = (
  reader: BinaryReader,
  end: number,
  emitter: Emitter,
  collector: Collector,
  bounds: RequestBounds
) => {
  let traceId = ""
  let spanId = ""
  let name = ""
  let time = 0n
  let observed = 0n
  let body: AttributeValue | undefined
  const attributes: ReadAttributes = new Map()
  const { contentBytes, nesting } = bounds.limits
  eachField(reader, end, (field, wire) => {
    if (wire === Bit64) {
      if (field === 1) time = BigInt(reader.fixed64())
      else if (field === 11) observed = BigInt(reader.fixed64())
      else return false
      return true
    }
    if (wire !== LengthDelimited) return false
    if (field === 5) body = readValue(reader, nesting, { left: contentBytes })
    else if (field === 6) readAttribute(reader, attributes, bounds)
    else if (field === 9) traceId = hexOf(reader.bytes())
    else if (field === 10) spanId = hexOf(reader.bytes())
    else if (field === 12) name = reader.string()
    else return false
    return true
  })
  collector.addLog({
    ...emitter,
    traceId,
    spanId,
    name: logName(name, attributes.get("event.name")),
    time,
    observed,
    ...(body !== undefined && { body: boundContent(body, bounds.limits) }),
    attributes: bounds.within(attributes)
  })
}

const readAttributes = (
  reader: BinaryReader,
  part: Part | undefined,
  wanted: number,
  bounds: RequestBounds
): Attributes => {
  const attributes: ReadAttributes = new Map()
  if (part === undefined) return {}
  reader.pos = part.start
  eachField(reader, part.end, (field, wire) => {
    if (field !== wanted || wire !== LengthDelimited) return false
    readAttribute(reader, attributes, bounds)
    return true
  })
  return bounds.within(attributes)
}

/** One without a name is left out; of two with one name the last counts. */
const readAttribute = (reader: BinaryReader, into: ReadAttributes, bounds: RequestBounds) => {
  const end = endOf(reader)
  const { name, value } = readPair(reader, end)
  if (name !== "" && name !== "__proto__") {
    const bounded = bounds.of(name)
    reader.pos = value
    const read = value === end ? null : readValue(reader, bounds.limits.nesting, { left: bounded.bytes })
    addTo(into, bounded, read)
  }
  reader.pos = end
}

/** The name of a pair, and the offset of its value: the end of the pair when it has none. */
const readPair = (reader: BinaryReader, end: number) => {
  let name = ""
  let value = end
  eachField(reader, end, (field, wire) => {
    if (wire !== LengthDelimited) return false
    if (field === 1) name = reader.string()
    else if (field === 2) {
      value = reader.pos
      reader.pos = endOf(reader)
    } else return false
    return true
  })
  return { name, value }
}

/**
 * Members of lists and maps that may still be read: without a bound, two bytes on the wire become a member that takes
 * eight in memory.
 */
interface Members {
  left: number
}

/** A value without content is null, as OTLP defines it. */
const readValue = (reader: BinaryReader, levels: number, members: Members): AttributeValue => {
  let value: AttributeValue = null
  eachField(reader, endOf(reader), (field, wire) => {
    if (field === 1 && wire === LengthDelimited) value = cleanText(reader.string())
    else if (field === 2 && wire === Varint) value = reader.bool()
    else if (field === 3 && wire === Varint) value = integerOf(BigInt(reader.int64()))
    else if (field === 4 && wire === Bit64) value = doubleOf(reader.double())
    else if (field === 5 && wire === LengthDelimited) value = readList(reader, levels, members)
    else if (field === 6 && wire === LengthDelimited) value = readMap(reader, levels, members)
    else if (field === 7 && wire === LengthDelimited) value = Buffer.from(reader.bytes()).toString("base64")
    else return false
    return true
  })
  return value
}

const readList = (reader: BinaryReader, levels: number, members: Members): AttributeValue => {
  const end = endOf(reader)
  if (levels <= 0) {
    reader.pos = end
    return TOO_DEEP
  }
  const list: Array<AttributeValue> = []
  eachField(reader, end, (field, wire) => {
    if (field !== 1 || wire !== LengthDelimited || members.left < 0) return false
    if (members.left-- > 0) list.push(readValue(reader, levels - 1, members))
    else {
      list.push(TOO_MANY)
      reader.pos = endOf(reader)
    }
    return true
  })
  return list
}

const readMap = (reader: BinaryReader, levels: number, members: Members): AttributeValue => {
  const end = endOf(reader)
  if (levels <= 0) {
    reader.pos = end
    return TOO_DEEP
  }
  const map = new Map<string, AttributeValue>()
  eachField(reader, end, (field, wire) => {
    if (field !== 1 || wire !== LengthDelimited || members.left < 0) return false
    const next = endOf(reader)
    const { name, value } = readPair(reader, next)
    if (members.left-- <= 0) map.set("…", TOO_MANY)
    else if (name !== "__proto__") {
      reader.pos = value
      map.set(cleanText(name), value === next ? null : readValue(reader, levels - 1, members))
    }
    reader.pos = next
    return true
  })
  return Object.fromEntries(map)
}

/** An integer, as a decimal text when a double cannot hold it. */
export const integerOf = (value: bigint): number | string =>
  Number.isSafeInteger(Number(value)) ? Number(value) : String(value)

/** A double, as a text when JSON cannot hold it. */
export const doubleOf = (value: number): number | string =>
  Number.isFinite(value) ? (value === 0 ? 0 : value) : String(value)

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"))

const hexOf = (bytes: Uint8Array): string => {
  if (bytes.length > 16) return ""
  let text = ""
  for (const byte of bytes) text += HEX[byte]
  return text
}
