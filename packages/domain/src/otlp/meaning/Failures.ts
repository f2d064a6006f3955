import { nameOf, spoken } from "../AttributeValues.ts"
import type { Failure } from "../Meaning.ts"
import type { Attributes, Span } from "../Span.ts"

const MAX_MESSAGE_CHARACTERS = 1_024

/** Class names come with their module path. */
const MODULE_PATH = /^(?:[A-Za-z_]\w*\.)+(?=[A-Za-z_]\w*$)/

/** A class of Python as a text. */
const CLASS_TEXT = /^<class '(.+)'>$/

const typeOf = (value: unknown): string | undefined =>
  typeof value === "string" ? nameOf(value)?.replace(CLASS_TEXT, "$1").replace(MODULE_PATH, "") : undefined

/** A message is its first line: some emitters glue the stack trace to it. */
const firstLine = (value: unknown): string | undefined => {
  const text = typeof value === "string" ? spoken(value) : undefined
  const line = text
    ?.split("Traceback (most recent call last)")[0]
    ?.trim()
    .split(/[\r\n]/)[0]
    ?.trim()
  return line === undefined || line === "" ? undefined : line.slice(0, MAX_MESSAGE_CHARACTERS)
}

/** A failure with the members that the emitter states; a message is its first line. */
export const failureOf = (type: unknown, message: unknown): Failure => made(typeOf(type), firstLine(message))

const made = (type: string | undefined, message: string | undefined): Failure => ({
  ...(type !== undefined && { type }),
  ...(message !== undefined && { message })
})

/** The last exception that the span recorded; undefined when it recorded none. */
export const exceptionOf = ({ events }: Pick<Span, "events">): Failure | undefined => {
  const last = events.findLast(({ name }) => name === "exception")
  return last && failureOf(last.attributes["exception.type"], last.attributes["exception.message"])
}

/** Why the span has the status ERROR; undefined with another status. */
export const statusFailure = (span: Span): Failure | undefined => {
  if (span.status !== "error") return undefined
  const exception = exceptionOf(span)
  const type = typeOf(span.attributes["error.type"]) ?? exception?.type
  const message = exception?.message ?? firstLine(span.statusMessage) ?? errorAttribute(span.attributes)
  // A repetition of the type says nothing more.
  return made(type, message === type ? undefined : message)
}

const errorAttribute = (attributes: Attributes): string | undefined =>
  firstLine(attributes["error.message"] ?? attributes["exception.message"] ?? attributes["ai.error.message"])
