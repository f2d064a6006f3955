import { type BinaryReader, WireType } from "@bufbuild/protobuf/wire"
import { type AttributeValue, cleanText } from "@runplane/domain"
import { beginningOf, MOST_TEXT_BYTES, type ReadAttributes, type RequestBounds, TOO_DEEP, TOO_MANY } from "./Bounds.ts"

/**
 * Attributes and values of OTLP. Each value is read without a pause, so its fields and its texts have a bound: what is
 * beyond is skipped as a whole, by its length.
 */

const { Bit32, Bit64, LengthDelimited, Varint } = WireType

/** Fields of one pair of a name and a value; one has two. */
const MOST_PAIR_FIELDS = 64
/** Fields that each value may have, whatever the others of its span have. */
const LEAST_FIELDS = 2

/** The end of the nested message that begins at the reader. */
export const endOf = (reader: BinaryReader): number => {
  const length = reader.uint32()
  const end = reader.pos + length
  if (end > reader.len) throw new RangeError("a message is longer than the body")
  return end
}

export const checkEnd = (reader: BinaryReader, end: number): void => {
  if (reader.pos !== end) throw new RangeError("a field is longer than its message")
}

/** Moves over a value. Groups, which OTLP never had, are not read: they end at an unknown offset. */
export const skip = (reader: BinaryReader, wire: WireType): void => {
  if (wire === LengthDelimited) reader.pos = endOf(reader)
  else if (wire === Varint) reader.int64()
  else if (wire === Bit64) reader.pos += 8
  else if (wire === Bit32) reader.pos += 4
  else throw new RangeError("a field is a group")
}

/** A text; of a very long one the beginning within `bytes`, with a mark. */
export const textOf = (reader: BinaryReader, bytes: number): string => {
  const { pos } = reader
  const length = reader.uint32()
  reader.pos = pos
  if (length <= MOST_TEXT_BYTES) return reader.string()
  return beginningOf(new TextDecoder().decode(reader.bytes().subarray(0, bytes)), length, bytes)
}

/** What a value may still have: fields, bytes of texts in it, and levels of lists and maps below it. */
interface Allowance {
  fields: number
  textBytes: number
  levels: number
  readonly bytes: number
}

export const allowanceFor = (bytes: number, { limits, valueFields }: RequestBounds): Allowance => ({
  // A value of one text or number always fits.
  fields: Math.max(LEAST_FIELDS, Math.min(bytes, valueFields)),
  textBytes: MOST_TEXT_BYTES,
  levels: limits.nesting,
  bytes
})

const isSpent = (allowance: Allowance): boolean => allowance.fields <= 0 || allowance.textBytes <= 0

/** One without a name is left out; of two with one name the last counts. */
export const readAttribute = (reader: BinaryReader, into: ReadAttributes, bounds: RequestBounds): void => {
  const end = endOf(reader)
  if (!into.mayRead()) {
    bounds.drop("attributes")
    reader.pos = end
    return
  }
  const { name, value } = readPair(reader, end, bounds)
  if (name === undefined) bounds.drop("attributes")
  else if (name !== "" && name !== "__proto__") {
    const bounded = bounds.of(name)
    reader.pos = value
    into.add(
      bounded,
      value === end ? null : readValue(reader, allowanceFor(bounds.bytesFor(bounded), bounds), bounds),
      bounds
    )
  } else bounds.pass()
  reader.pos = end
}

/**
 * The name of a pair, and the offset of its value: the end of the pair when it has none. Undefined for a name that
 * fits nowhere, and for a pair of many fields.
 */
const readPair = (reader: BinaryReader, end: number, bounds: RequestBounds) => {
  let name: string | undefined = ""
  let value = end
  let fields = 0
  while (reader.pos < end) {
    if (fields++ >= MOST_PAIR_FIELDS) return { name: undefined, value: end }
    const [field, wire] = reader.tag()
    if (wire === LengthDelimited && field === 1) {
      const { pos } = reader
      const length = reader.uint32()
      if (length > MOST_TEXT_BYTES) return { name: undefined, value: end }
      reader.pos = pos
      name = reader.string()
    } else if (wire === LengthDelimited && field === 2) {
      value = reader.pos
      reader.pos = endOf(reader)
    } else {
      bounds.pass()
      skip(reader, wire)
    }
  }
  checkEnd(reader, end)
  return { name, value }
}

/** A value without content is null, as OTLP defines it. */
export const readValue = (reader: BinaryReader, allowance: Allowance, bounds: RequestBounds): AttributeValue => {
  const { fields } = allowance
  const value = readAny(reader, allowance)
  bounds.valueFields -= fields - allowance.fields
  if (isSpent(allowance)) bounds.drop("values")
  return value
}

const readAny = (reader: BinaryReader, allowance: Allowance): AttributeValue => {
  const end = endOf(reader)
  let value: AttributeValue = null
  while (reader.pos < end) {
    if (isSpent(allowance)) {
      reader.pos = end
      return value ?? TOO_MANY
    }
    allowance.fields--
    const [field, wire] = reader.tag()
    if (field === 1 && wire === LengthDelimited) value = readText(reader, allowance)
    else if (field === 2 && wire === Varint) value = reader.bool()
    else if (field === 3 && wire === Varint) value = integerOf(BigInt(reader.int64()))
    else if (field === 4 && wire === Bit64) value = doubleOf(reader.double())
    else if (field === 5 && wire === LengthDelimited) value = readNested(reader, allowance, readList)
    else if (field === 6 && wire === LengthDelimited) value = readNested(reader, allowance, readMap)
    else if (field === 7 && wire === LengthDelimited) value = readBytes(reader, allowance)
    else skip(reader, wire)
  }
  checkEnd(reader, end)
  return value
}

/** A text in a list fits beside others when it is cut. */
const readText = (reader: BinaryReader, allowance: Allowance): string => {
  const { pos } = reader
  const text = cleanText(textOf(reader, allowance.bytes / 4))
  allowance.textBytes -= reader.pos - pos
  return text
}

const readBytes = (reader: BinaryReader, allowance: Allowance): string => {
  const bytes = reader.bytes()
  allowance.textBytes -= bytes.length
  const text = Buffer.from(bytes.subarray(0, MOST_TEXT_BYTES)).toString("base64")
  return bytes.length > MOST_TEXT_BYTES ? beginningOf(text, bytes.length, allowance.bytes / 4) : text
}

const readNested = (
  reader: BinaryReader,
  allowance: Allowance,
  read: (reader: BinaryReader, end: number, allowance: Allowance) => AttributeValue
): AttributeValue => {
  const end = endOf(reader)
  if (allowance.levels <= 0) {
    reader.pos = end
    return TOO_DEEP
  }
  allowance.levels--
  const value = read(reader, end, allowance)
  allowance.levels++
  checkEnd(reader, end)
  return value
}

const readList = (reader: BinaryReader, end: number, allowance: Allowance): AttributeValue => {
  const list: Array<AttributeValue> = []
  while (reader.pos < end) {
    if (isSpent(allowance)) {
      list.push(TOO_MANY)
      reader.pos = end
      break
    }
    allowance.fields--
    const [field, wire] = reader.tag()
    if (field === 1 && wire === LengthDelimited) list.push(readAny(reader, allowance))
    else skip(reader, wire)
  }
  return list
}

const readMap = (reader: BinaryReader, end: number, allowance: Allowance): AttributeValue => {
  const map = new Map<string, AttributeValue>()
  while (reader.pos < end) {
    if (isSpent(allowance)) {
      map.set("…", TOO_MANY)
      reader.pos = end
      break
    }
    allowance.fields--
    const [field, wire] = reader.tag()
    if (field === 1 && wire === LengthDelimited) readMember(reader, map, allowance)
    else skip(reader, wire)
  }
  return Object.fromEntries(map)
}

const readMember = (reader: BinaryReader, map: Map<string, AttributeValue>, allowance: Allowance) => {
  const end = endOf(reader)
  let name = ""
  let value = end
  while (reader.pos < end && !isSpent(allowance)) {
    allowance.fields--
    const [field, wire] = reader.tag()
    if (field === 1 && wire === LengthDelimited) name = readText(reader, allowance)
    else if (field === 2 && wire === LengthDelimited) {
      value = reader.pos
      reader.pos = endOf(reader)
    } else skip(reader, wire)
  }
  if (name !== "__proto__") {
    reader.pos = value
    map.set(name, value === end ? null : readAny(reader, allowance))
  }
  reader.pos = end
}

/** An integer, as a decimal text when a double cannot hold it. */
export const integerOf = (value: bigint): number | string =>
  Number.isSafeInteger(Number(value)) ? Number(value) : String(value)

/** A double, as a text when JSON cannot hold it. */
export const doubleOf = (value: number): number | string =>
  Number.isFinite(value) ? (value === 0 ? 0 : value) : String(value)

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"))

/** The hex of an id; empty for bytes that are longer than any id. */
export const hexOf = (reader: BinaryReader): string => {
  const bytes = reader.bytes()
  if (bytes.length > 16) return ""
  let text = ""
  for (const byte of bytes) text += HEX[byte]
  return text
}
