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

/**
 * An answer that may be long. Its first piece is read by the caller, so that failures still become proper answers; what
 * follows is read as the client takes it, so that the length of the answer costs no memory.
 */
export const jsonPages = <E>(first: TextPage<E>): HttpServerResponse.HttpServerResponse => {
  if (first.next === undefined) return jsonText(first.text)
  const rest = Stream.paginate(first.next, (read) =>
    Effect.map(read, (page) => [[page.text], Option.fromUndefinedOr(page.next)] as const)
  )
  return HttpServerResponse.stream(Stream.encodeText(Stream.concat(Stream.succeed(first.text), rest)), { contentType })
}
