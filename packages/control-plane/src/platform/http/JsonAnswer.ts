import { cutOnFailure } from "@runplane/server"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"

const contentType = "application/json"

/** An answer of stored JSON text, passed through as it is. */
export const jsonText = (text: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(text, { contentType })

/** A piece of an answer, and how to read on; without `next` it is the last. */
export interface TextPage<E> {
  readonly text: string
  readonly next?: Effect.Effect<TextPage<E>, E>
}

/** One read of a list. */
interface ReadPart<Row> {
  readonly rows: ReadonlyArray<Row>
  /** How many of the keys were read. */
  readonly taken: number
  readonly isCut: boolean
}

/**
 * A list whose rows are read by their keys as the client takes them, between the texts `before` and `after` it. A row
 * that was deleted meanwhile is left out (docs/reference/http.md#page-bytes).
 */
export const listPage = <Key, Row, E>(
  keys: ReadonlyArray<Key>,
  read: (keys: ReadonlyArray<Key>) => Effect.Effect<ReadPart<Row>, E>,
  textOf: (row: Row) => string,
  after: string,
  before = `{"data":[`
): Effect.Effect<TextPage<E>, E> => {
  const part = (left: ReadonlyArray<Key>, opening: string, separator: string): Effect.Effect<TextPage<E>, E> =>
    left.length === 0
      ? Effect.succeed({ text: `${opening}${after}` })
      : Effect.map(read(left), ({ isCut, rows, taken }) => {
          const text = opening + (rows.length === 0 ? "" : separator) + rows.map(textOf).join(",")
          if (!isCut) return { text: text + after }
          return { text, next: part(left.slice(taken), "", rows.length === 0 ? separator : ",") }
        })
  return part(keys, before, before.endsWith("[") ? "" : ",")
}

/**
 * An answer that may be long. Its first piece is read by the caller, so that failures still become proper answers; the
 * rest is read as the client takes it, so that the length of the answer costs no memory. A later failure cuts the
 * connection.
 */
export const jsonPages = <E>(first: TextPage<E>): HttpServerResponse.HttpServerResponse => {
  if (first.next === undefined) return jsonText(first.text)
  const rest = Stream.paginate(first.next, (read) =>
    Effect.map(read, (page) => [[page.text], Option.fromUndefinedOr(page.next)] as const)
  )
  const text = Stream.concat(Stream.succeed(first.text), rest)
  return HttpServerResponse.stream(Stream.encodeText(cutOnFailure("an answer")(text)), { contentType })
}
