import { parseQuery, type QueryField } from "@runplane/domain"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** A field of the search language, with its description for readers (docs/reference/search.md#query). */
export interface DescribedField extends QueryField {
  readonly description: string
  /** Whether an index finds its values, so that a search by it costs the same however much is stored. */
  readonly isFast: boolean
  /** Values that a client may suggest where any other one is valid too. */
  readonly examples?: ReadonlyArray<string>
}

/** A time, with relative ones as suggestions. */
export const time = { type: "time", examples: ["now-1h", "now-1d", "now-7d"] } as const

/** A field whose values an index finds. */
export const fast = { isFast: true } as const
/** A field whose values are looked for row by row. */
export const slow = { isFast: false } as const

/** A search over these fields: the text as it was given, once it is sure that it can be read. */
export const searchText = (fields: ReadonlyArray<DescribedField>, description: string, example: string) =>
  Schema.String.annotate({ description, examples: [example] }).check(
    Schema.makeFilter((text) =>
      Result.match(parseQuery(text, fields), { onSuccess: () => undefined, onFailure: ({ message }) => message })
    )
  )
