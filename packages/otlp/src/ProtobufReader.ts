import { BinaryReader, WireType } from "@bufbuild/protobuf/wire"
import type { Attributes, AttributeValue, Emitter, Sliced } from "@runplane/domain"
import { boundContent, ReadAttributes, type RequestBounds } from "./Bounds.ts"
import { type Collector, emitterOf, logName, statusOf } from "./Collect.ts"
import { allowanceFor, checkEnd, endOf, hexOf, readAttribute, readValue, skip, textOf } from "./ProtobufValues.ts"

/**
 * Reads the fields of OTLP that runs are made of, straight from the bytes. It holds none of what it has read of a
 * request, and can give the thread back between any two fields.
 *
 * Without this: the messages of the protobuf library hold a whole request, in which two bytes become an object of a
 * hundred, and the thread is busy until the last one is read; costs this file and `ProtobufValues.ts`, and a test that
 * compares both.
 */

const { Bit64, LengthDelimited, Varint } = WireType

const SHORT_TEXT_BYTES = 1_024

/**
 * Calls `visit` for each field up to the offset `end`, with the reader at its value. It returns false for a field that
 * it does not read, with an unexpected wire type too: the value is skipped, as the format demands of unknown fields.
 */
function* eachField(
  reader: BinaryReader,
  end: number,
  bounds: RequestBounds,
  visit: (field: number, wire: WireType) => boolean
): Sliced<void> {
  while (reader.pos < end) {
    if (bounds.isDue(reader.pos)) yield
    const [field, wire] = reader.tag()
    if (!visit(field, wire)) {
      bounds.pass()
      skip(reader, wire)
    }
  }
  checkEnd(reader, end)
}

/** The last field 1 of a message, which a group of a resource or of a scope has once: its offsets. */
function* lastFirst(reader: BinaryReader, end: number, bounds: RequestBounds) {
  let last: { readonly start: number; readonly end: number } | undefined
  while (reader.pos < end) {
    if (bounds.isDue(reader.pos)) yield
    const [field, wire] = reader.tag()
    if (field === 1 && wire === LengthDelimited) {
      const partEnd = endOf(reader)
      last = { start: reader.pos, end: partEnd }
      reader.pos = partEnd
    } else skip(reader, wire)
  }
  checkEnd(reader, end)
  return last
}

/** Reads the field 2 of a message with `read`; field 1 is read before. */
function* eachSecond(
  reader: BinaryReader,
  end: number,
  bounds: RequestBounds,
  read: (end: number) => Sliced<void>
): Sliced<void> {
  while (reader.pos < end) {
    if (bounds.isDue(reader.pos)) yield
    const [field, wire] = reader.tag()
    if (field === 2 && wire === LengthDelimited) yield* read(endOf(reader))
    else {
      if (field !== 1) bounds.pass()
      skip(reader, wire)
    }
  }
}

/** Reads an item up to an offset. */
export type ReadItem = (
  reader: BinaryReader,
  end: number,
  emitter: Emitter,
  collector: Collector,
  bounds: RequestBounds
) => Sliced<void>

/** Traces and logs nest alike: resources (1) hold their resource (1) and scopes (2) with a scope (1) and items (2). */
export function* readProtobuf(
  bytes: Uint8Array,
  item: ReadItem,
  collector: Collector,
  bounds: RequestBounds
): Sliced<void> {
  const reader = new BinaryReader(bytes)

  /** Items beyond the bound, and those of dropped groups, are counted. */
  const readItem = (emitter: Emitter | undefined) =>
    function* (end: number): Sliced<void> {
      if (emitter !== undefined && !collector.isFull) {
        yield* item(reader, end, emitter, collector, bounds)
        return
      }
      collector.rejectBeyondBound()
      reader.pos = end
    }

  const readScoped = (resource: Attributes | undefined) =>
    function* (end: number): Sliced<void> {
      const isKept = collector.addGroup("scope") && resource !== undefined
      const { pos } = reader
      const scope = yield* lastFirst(reader, end, bounds)
      if (scope !== undefined) reader.pos = scope.start
      const emitter = isKept ? yield* readScope(reader, scope?.end ?? reader.pos, resource, bounds) : undefined
      reader.pos = pos
      yield* eachSecond(reader, end, bounds, readItem(emitter))
    }

  const readGroup = function* (end: number): Sliced<void> {
    const isKept = collector.addGroup("resource")
    const { pos } = reader
    const part = yield* lastFirst(reader, end, bounds)
    let resource: Attributes | undefined = isKept ? {} : undefined
    if (isKept && part !== undefined) {
      reader.pos = part.start
      resource = yield* readResource(reader, part.end, bounds)
    }
    reader.pos = pos
    yield* eachSecond(reader, end, bounds, readScoped(resource))
  }

  while (reader.pos < reader.len) {
    if (bounds.isDue(reader.pos)) yield
    const [field, wire] = reader.tag()
    if (field === 1 && wire === LengthDelimited) yield* readGroup(endOf(reader))
    else {
      bounds.pass()
      skip(reader, wire)
    }
  }
  checkEnd(reader, reader.len)
}

function* readResource(reader: BinaryReader, end: number, bounds: RequestBounds) {
  const attributes = new ReadAttributes()
  bounds.begin("resource")
  yield* eachField(reader, end, bounds, (field, wire) => {
    if (field !== 1 || wire !== LengthDelimited) return false
    readAttribute(reader, attributes, bounds)
    return true
  })
  return bounds.within(attributes)
}

function* readScope(reader: BinaryReader, end: number, resource: Attributes, bounds: RequestBounds) {
  let name = ""
  let version = ""
  yield* eachField(reader, end, bounds, (field, wire) => {
    if (wire !== LengthDelimited) return false
    if (field === 1) name = textOf(reader, SHORT_TEXT_BYTES)
    else if (field === 2) version = textOf(reader, SHORT_TEXT_BYTES)
    else return false
    return true
  })
  return emitterOf(resource, name, version)
}

export const readProtobufSpan: ReadItem = function* (reader, end, emitter, collector, bounds) {
  let traceId = ""
  let spanId = ""
  let parentSpanId = ""
  let name = ""
  let start = 0n
  let ended = 0n
  let status: { readonly code: number; readonly message: string } = { code: 0, message: "" }
  const attributes = new ReadAttributes()
  const events: Array<{ name: string; at: string; attributes: Attributes }> = []
  const links: Array<{ traceId: string; spanId: string; attributes: Attributes }> = []
  bounds.begin("item")
  while (reader.pos < end) {
    if (bounds.isDue(reader.pos)) yield
    const [field, wire] = reader.tag()
    if (wire === LengthDelimited && field === 9) readAttribute(reader, attributes, bounds)
    else if (wire === LengthDelimited && field === 1) traceId = hexOf(reader)
    else if (wire === LengthDelimited && field === 2) spanId = hexOf(reader)
    else if (wire === LengthDelimited && field === 4) parentSpanId = hexOf(reader)
    else if (wire === LengthDelimited && field === 5) name = textOf(reader, SHORT_TEXT_BYTES)
    else if (wire === LengthDelimited && field === 11) {
      if (events.length < bounds.limits.attributes) events.push(yield* readEvent(reader, bounds))
      else dropMessage(reader, "events", bounds)
    } else if (wire === LengthDelimited && field === 13) {
      if (links.length < bounds.limits.attributes) links.push(yield* readLink(reader, bounds))
      else dropMessage(reader, "links", bounds)
    } else if (wire === LengthDelimited && field === 15) status = yield* readStatus(reader, status, bounds)
    else if (wire === Bit64 && field === 7) start = BigInt(reader.fixed64())
    else if (wire === Bit64 && field === 8) ended = BigInt(reader.fixed64())
    else {
      bounds.pass()
      skip(reader, wire)
    }
  }
  checkEnd(reader, end)
  collector.addSpan({
    ...emitter,
    traceId,
    spanId,
    parentSpanId,
    name,
    start,
    end: ended,
    ...statusOf(status.code, status.message, bounds.limits),
    attributes: bounds.within(attributes),
    events,
    links
  })
}

const dropMessage = (reader: BinaryReader, what: "events" | "links", bounds: RequestBounds) => {
  bounds.drop(what)
  reader.pos = endOf(reader)
}

/** A status that comes again continues the one before it, as the format demands. */
function* readStatus(reader: BinaryReader, before: { code: number; message: string }, bounds: RequestBounds) {
  let { code, message } = before
  yield* eachField(reader, endOf(reader), bounds, (field, wire) => {
    if (field === 2 && wire === LengthDelimited) message = textOf(reader, bounds.limits.valueBytes)
    else if (field === 3 && wire === Varint) code = reader.int32()
    else return false
    return true
  })
  return { code, message }
}

function* readEvent(reader: BinaryReader, bounds: RequestBounds) {
  let at = "0"
  let name = ""
  const attributes = new ReadAttributes()
  yield* eachField(reader, endOf(reader), bounds, (field, wire) => {
    if (field === 1 && wire === Bit64) at = String(reader.fixed64())
    else if (field === 2 && wire === LengthDelimited) name = textOf(reader, SHORT_TEXT_BYTES)
    else if (field === 3 && wire === LengthDelimited) readAttribute(reader, attributes, bounds)
    else return false
    return true
  })
  return { name: bounds.of(name).name, at, attributes: bounds.within(attributes) }
}

function* readLink(reader: BinaryReader, bounds: RequestBounds) {
  let traceId = ""
  let spanId = ""
  const attributes = new ReadAttributes()
  yield* eachField(reader, endOf(reader), bounds, (field, wire) => {
    if (wire !== LengthDelimited) return false
    if (field === 1) traceId = hexOf(reader)
    else if (field === 2) spanId = hexOf(reader)
    else if (field === 4) readAttribute(reader, attributes, bounds)
    else return false
    return true
  })
  return { traceId, spanId, attributes: bounds.within(attributes) }
}

export const readProtobufLog: ReadItem = function* (reader, end, emitter, collector, bounds) {
  let traceId = ""
  let spanId = ""
  let name = ""
  let time = 0n
  let observed = 0n
  let body: AttributeValue | undefined
  const attributes = new ReadAttributes()
  const { contentBytes } = bounds.limits
  bounds.begin("item")
  yield* eachField(reader, end, bounds, (field, wire) => {
    if (wire === Bit64) {
      if (field === 1) time = BigInt(reader.fixed64())
      else if (field === 11) observed = BigInt(reader.fixed64())
      else return false
      return true
    }
    if (wire !== LengthDelimited) return false
    if (field === 5) body = boundContent(readValue(reader, allowanceFor(contentBytes, bounds), bounds), bounds.limits)
    else if (field === 6) readAttribute(reader, attributes, bounds)
    else if (field === 9) traceId = hexOf(reader)
    else if (field === 10) spanId = hexOf(reader)
    else if (field === 12) name = textOf(reader, SHORT_TEXT_BYTES)
    else return false
    return true
  })
  collector.addLog({
    ...emitter,
    traceId,
    spanId,
    name: logName(name, attributes.values.get("event.name")),
    time,
    observed,
    ...(body !== undefined && { body }),
    attributes: bounds.within(attributes)
  })
}
