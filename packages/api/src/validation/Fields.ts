import { about, isUuid } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaTransformation from "effect/SchemaTransformation"
import { DATE_OR_DATE_TIME, parseIsoDate } from "./IsoDate.ts"
import { sentAs } from "./RequestSchema.ts"

/** A field that has this value when it is absent. */
export const withDefault = <A, E>(schema: Schema.Codec<A, E>, value: NoInfer<A>) =>
  schema.pipe(Schema.annotate({ default: value }), Schema.withDecodingDefaultTypeKey(Effect.succeed(value)))

/** An integer that a double holds exactly; every broken bound is reported. */
export const integer = ({ max, min }: { readonly min: number; readonly max?: number }) =>
  max === undefined
    ? Schema.Number.check(Schema.isGreaterThanOrEqualTo(min), Schema.isInt())
    : Schema.Number.check(Schema.isLessThanOrEqualTo(max), Schema.isGreaterThanOrEqualTo(min), Schema.isInt())

/** A finite number; every broken bound is reported. */
export const numberAtLeast = (min: number) => Schema.Number.check(Schema.isGreaterThanOrEqualTo(min), Schema.isFinite())

const readAs = (expected: string, shown: Schema.Constraint, read: (value: unknown) => string | undefined) =>
  sentAs(shown).pipe(
    Schema.decodeTo(
      Schema.String.annotate({ expected }),
      SchemaTransformation.transformEffect({
        decode: (value: unknown) => {
          const text = read(value)
          return text === undefined ? Effect.fail(new SchemaIssue.InvalidValue()) : Effect.succeed(text)
        },
        encode: (text) => Effect.succeed(text)
      })
    )
  )

/** A UUID; decodes to lower case. */
export const uuid = (description: string, example?: string) =>
  readAs("a UUID", Schema.String.annotate({ ...about(description, example), format: "uuid" }), (value) =>
    typeof value === "string" && isUuid(value) ? value.toLowerCase() : undefined
  )

/**
 * Documents show a text of this form, whatever else is accepted. One form is a plain text for generators of clients,
 * and a choice is a class without its name.
 */
export const shownAs = (form: RegExp, words: ReturnType<typeof about>) =>
  Schema.Any.check(
    Schema.makeFilter(() => true, { toJsonSchema: () => ({ type: "string", pattern: form.source }), ...words })
  )

/** An ISO 8601 date or date-time; decodes to the ISO text of that instant in UTC with milliseconds. */
export const isoDate = (description: string, example: string) =>
  readAs("a valid ISO 8601 date string", shownAs(DATE_OR_DATE_TIME, about(description, example)), (value) =>
    typeof value === "string" ? parseIsoDate(value) : undefined
  )

/** Texts separated by commas, trimmed, empty ones left out; a repeated key adds to the list. */
export const commaSeparated = (description: string, example: string) =>
  sentAs(Schema.String.annotate(about(description, example))).pipe(
    Schema.decodeTo(
      Schema.Array(Schema.String),
      SchemaTransformation.transform({
        decode: (value: unknown): ReadonlyArray<string> =>
          [value].flat().flatMap((texts) =>
            String(texts)
              .split(",")
              .map((text) => text.trim())
              .filter((text) => text !== "")
          ),
        encode: (texts: ReadonlyArray<string>) => texts.join(",")
      })
    )
  )
