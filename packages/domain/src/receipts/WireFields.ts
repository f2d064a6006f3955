import * as Result from "effect/Result"

/** A field of a protobuf message: a number for a varint, bytes for a text, a message and fixed widths. */
export interface Field {
  readonly number: number
  readonly value: bigint | Uint8Array
  /** The bytes have a length of their own, as texts and messages do. */
  readonly isDelimited: boolean
}

/** Bytes of the longest varint. */
const VARINT_BYTES = 10
const FIXED_BYTES: ReadonlyMap<bigint, number> = new Map([
  [1n, 8],
  [5n, 4]
])
const LARGEST_NUMBER = 2n ** 29n - 1n
const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** The fields of a message in their order, known or not. Groups, which no message of the protocol has, are refused. */
export const readFields = (wire: Uint8Array): Result.Result<ReadonlyArray<Field>, string> =>
  Result.gen(function* () {
    const fields: Array<Field> = []
    let at = 0
    const take = (length: number) => {
      const end = at + length
      if (end > wire.length) return Result.fail("the message ends inside a field")
      const taken = wire.subarray(at, end)
      at = end
      return Result.succeed(taken)
    }
    const varint = () => {
      let value = 0n
      for (let byte = 0; byte < VARINT_BYTES; byte++) {
        const next = wire[at]
        if (next === undefined) break
        at += 1
        value |= BigInt(next & 0x7f) << BigInt(7 * byte)
        if (next < 0x80) return Result.succeed(BigInt.asUintN(64, value))
      }
      return Result.fail("the message has a number that does not end")
    }
    while (at < wire.length) {
      const tag = yield* varint()
      const number = tag >> 3n
      const type = tag & 7n
      if (number === 0n || number > LARGEST_NUMBER) return yield* Result.fail(`the message has a field ${number}`)
      const fixed = FIXED_BYTES.get(type)
      if (type === 0n) {
        fields.push({ number: Number(number), value: yield* varint(), isDelimited: false })
      } else if (type === 2n) {
        const length = yield* varint()
        if (length > BigInt(wire.length)) return yield* Result.fail("the message ends inside a field")
        fields.push({ number: Number(number), value: yield* take(Number(length)), isDelimited: true })
      } else if (fixed !== undefined) {
        fields.push({ number: Number(number), value: yield* take(fixed), isDelimited: false })
      } else {
        return yield* Result.fail(`field ${number} of the message has the unknown form ${type}`)
      }
    }
    return fields
  })

/** The text of a field; `message` names the message in the reason of a failure. */
export const textOfField = (message: string, { isDelimited, number, value }: Field): Result.Result<string, string> => {
  const notText = `field ${number} of ${message} is not a text`
  if (!isDelimited || typeof value === "bigint") return Result.fail(notText)
  return Result.try({ try: () => text.decode(value), catch: () => notText })
}
