import * as Result from "effect/Result"

/** A field of a protobuf message: a number for a varint, bytes for a text, a message and fixed widths. */
export interface Field {
  readonly number: number
  /** Of a varint beyond 2^53 only the magnitude counts. */
  readonly value: number | Uint8Array
  /** The bytes have a length of their own, as texts and messages do. */
  readonly isDelimited: boolean
}

/** Bytes of the longest varint; the last one has a single bit. */
const VARINT_BYTES = 10
const LARGEST_NUMBER = 2 ** 29 - 1
const VARINT = 0
const DELIMITED = 2
/** Bytes of the fixed widths, by the form of the field. */
const WIDTHS: ReadonlyMap<number, number> = new Map([
  [1, 8],
  [5, 4]
])
const NOT_ENDED = -1
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/**
 * The fields of a message in their order, known or not. Groups, which no message of the protocol has, are refused. A
 * plain loop: a payload of the largest size can have half a million fields.
 */
export const readFields = (wire: Uint8Array): Result.Result<ReadonlyArray<Field>, string> => {
  const fields: Array<Field> = []
  let at = 0
  const varint = (): number => {
    let value = 0
    for (let index = 0; index < VARINT_BYTES; index++) {
      const byte = wire[at]
      if (byte === undefined || (index === VARINT_BYTES - 1 && byte > 1)) return NOT_ENDED
      at += 1
      value += (byte & 0x7f) * 2 ** (7 * index)
      if (byte < 0x80) return value
    }
    return NOT_ENDED
  }
  while (at < wire.length) {
    const tag = varint()
    if (tag === NOT_ENDED) return Result.fail("the message has a number that does not end")
    const number = Math.floor(tag / 8)
    const form = tag % 8
    if (number === 0 || number > LARGEST_NUMBER) return Result.fail(`the message has a field ${number}`)
    const width = WIDTHS.get(form)
    if (form !== VARINT && form !== DELIMITED && width === undefined) {
      return Result.fail(`field ${number} of the message has the unknown form ${form}`)
    }
    const size = width ?? varint()
    if (size === NOT_ENDED) return Result.fail("the message has a number that does not end")
    if (form === VARINT) {
      fields.push({ number, value: size, isDelimited: false })
      continue
    }
    if (size > wire.length - at) return Result.fail("the message ends inside a field")
    fields.push({ number, value: wire.subarray(at, at + size), isDelimited: form === DELIMITED })
    at += size
  }
  return Result.succeed(fields)
}

/** The text of a field; `message` names the message in the reason of a failure. */
export const textOfField = (message: string, { isDelimited, number, value }: Field): Result.Result<string, string> => {
  const notText = () => `field ${number} of ${message} is not a text`
  if (!isDelimited || typeof value === "number") return Result.fail(notText())
  if (value.length === 0) return EMPTY
  return Result.try({ try: () => utf8.decode(value), catch: notText })
}

const EMPTY = Result.succeed("")
