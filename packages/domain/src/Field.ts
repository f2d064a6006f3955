import * as Schema from "effect/Schema"

const about = <A>(description: string, example: A | undefined) =>
  example === undefined ? { description } : { description, examples: [example] }

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
  object: (description: string, example?: Schema.JsonObject) => Schema.JsonObject.annotate(about(description, example))
}
