import * as Data from "effect/Data"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/** The cursor is not one of this list in this order (docs/reference/runs.md#cursors). */
export class UnknownCursor extends Data.TaggedError("UnknownCursor") {}

/** A position in a sorted list: the sort value and the id of the entry. */
export interface Position {
  readonly value: string
  readonly id: string
}

const Cursor = Schema.fromJsonString(Schema.Tuple([Schema.String, Schema.String, Schema.String]))
const decode = Schema.decodeUnknownOption(Cursor)

/** The cursor behind an entry, an opaque text; `order` names the list and its order. */
export const cursorOf = (order: string, { id, value }: Position): string =>
  Buffer.from(JSON.stringify([order, value, id])).toString("base64url")

/** The position of a cursor of this order; undefined for any other text. */
export const positionOf = (order: string, cursor: string): Position | undefined => {
  const parts = decode(Buffer.from(cursor, "base64url").toString("utf8"))
  if (Option.isNone(parts) || parts.value[0] !== order) return undefined
  const [, value, id] = parts.value
  return { value, id }
}

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z$/
const NUMBER = /^(-?\d{1,400}(\.\d{1,400})?|NaN|-?Infinity)$/

/** Whether a sort value can be a time with microseconds, a number, a whole number of 4 or of 8 bytes. */
export const isPositionValue = {
  time: (text: string) => TIME.test(text) && !Number.isNaN(new Date(text).getTime()) && !text.startsWith("0000"),
  number: (text: string) => NUMBER.test(text),
  integer: (text: string) => /^\d{1,9}$/.test(text),
  bigint: (text: string) => /^\d{1,18}$/.test(text)
} as const
