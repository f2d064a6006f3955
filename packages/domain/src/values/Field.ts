import * as Schema from "effect/Schema"

/** Description and example of a field in the API documents. */
export const about = <const A = never>(
  description: string,
  example?: A
): { readonly description: string; readonly examples?: ReadonlyArray<A> } =>
  example === undefined ? { description } : { description, examples: [example] }

// One check of the whole as JSON is several times faster than a record of JSON values.
const AnyObject = Schema.Json.pipe(
  Schema.refine(
    (value): value is Schema.JsonObject => typeof value === "object" && value !== null && !Array.isArray(value),
    { expected: "an object", toJsonSchema: () => ({ type: "object" }) }
  )
)

/**
 * Control characters and line separators, and invisible characters: direction marks, zero-width characters and the
 * soft hyphen. Written out, because generators of clients read the same class as a pattern.
 */
const UNSEEN = "\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff"
/** With the tag characters (U+E0000 to U+E03FF), which no pattern names in a form that all generators read. */
const unseen = new RegExp(`[${UNSEEN}\\udb40]`)

/**
 * A name is a line of logs, headers and tables, and people compare it with others: two names that look the same are the
 * same (docs/reference/http.md#names).
 */
export const isOneLine = Schema.makeFilter((text: string) => !unseen.test(text), {
  expected: "one line without control, direction and zero-width characters",
  toJsonSchema: () => ({ pattern: `^[^${UNSEEN}]*$` })
})

/** White space, and characters that show nothing by themselves: Hangul fillers and the empty Braille cell. */
const SHOWN = /[^\s\u115f\u1160\u2800\u3164\uffa0]/

/** Whether a text shows something: a blank key or name would be the same for all its callers. */
export const isBlank = (text: string): boolean => !SHOWN.test(text)

/** For texts of at least one character; the check of the length reports an empty one. */
export const isVisible = Schema.makeFilter((text: string) => text === "" || !isBlank(text), {
  expected: "a text with at least one visible character",
  toJsonSchema: () => ({ pattern: "\\S" })
})

const MAX_IDEMPOTENCY_KEY_LENGTH = 255

/**
 * A key that a caller chooses, so that a repeated request has the effect of one. An empty or blank one would join the
 * requests of strangers (docs/reference/http.md#idempotency-keys).
 */
export const idempotencyKey = (description: string, example?: string) =>
  Schema.String.annotate(about(description, example)).check(
    Schema.isMinLength(1),
    Schema.isMaxLength(MAX_IDEMPOTENCY_KEY_LENGTH),
    isVisible,
    isOneLine
  )

const everyUnseen = new RegExp(unseen, "g")

/** A text as `isOneLine` accepts it, cut after so many characters: the others become spaces. */
export const toOneLine = (text: string, most: number): string =>
  text.replaceAll(everyUnseen, " ").trim().slice(0, most).toWellFormed()

/** A text of a form, which documents show as a pattern. */
export const isOfForm = (pattern: RegExp) =>
  Schema.makeFilter((text: string) => pattern.test(text), {
    expected: `a string matching the RegExp ${pattern.source}`,
    toJsonSchema: () => ({ pattern: pattern.source })
  })

/** Schemas of the common kinds of fields, each with the words that documents of an API show beside its name. */
export const Field = {
  text: (description: string, example?: string) => Schema.String.annotate(about(description, example)),
  texts: (description: string, example?: ReadonlyArray<string>) =>
    Schema.Array(Schema.String).annotate(about(description, example)),
  integer: (description: string, example?: number) => Schema.Int.annotate(about(description, example)),
  /** A number that JSON can hold: neither NaN nor infinite. */
  number: (description: string, example?: number) => Schema.Finite.annotate(about(description, example)),
  flag: (description: string) => Schema.Boolean.annotate({ description }),
  /** A time as the service writes it: ISO 8601, UTC, milliseconds. */
  time: (description: string) => Schema.String.annotate({ description, format: "date-time" }),
  /** A JSON object of any content. */
  object: (description: string, example?: Schema.JsonObject) => AnyObject.annotate(about(description, example))
}

const MAIL_ADDRESS = /^[^\s@<>()[\]\\,;:"\p{Cc}]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/u

/**
 * Whether a text is one address without a display name. With a space, a bracket or a control character it could add
 * other recipients, or a header.
 */
export const isMailAddress = (text: string): boolean => MAIL_ADDRESS.test(text)
