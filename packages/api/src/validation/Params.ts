import { about, cleanText, isSessionId, isUuid } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import { sentence } from "./Violations.ts"

export const UUID_EXPECTED = "Validation failed (uuid is expected)"

const idParam = (annotations: Schema.Annotations.Documentation<string>, read: (text: string) => string | undefined) =>
  Schema.String.annotate(annotations).pipe(
    Schema.decodeTo(
      Schema.String,
      SchemaTransformation.transformEffect({
        decode: (text) => {
          const id = read(text)
          return id === undefined ? Effect.fail(sentence(UUID_EXPECTED)) : Effect.succeed(id)
        },
        encode: (text) => Effect.succeed(text)
      })
    )
  )

const uuidOf = (text: string) => (isUuid(text) ? text.toLowerCase() : undefined)

/**
 * The `:id` of a run: a UUID (made lower case), or the id of a session that is not a UUID, which the handler resolves.
 * Anything else is refused with `UUID_EXPECTED`.
 */
export const RunReference = idParam(
  about(
    "Run id (UUID), or the id of the run's session when that is not a UUID",
    "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10"
  ),
  (text) => uuidOf(text) ?? (isSessionId(text) ? text : undefined)
)

/** A path segment that must be a UUID; made lower case. */
export const UuidParam = idParam(about("Id: UUID", "0197c0de-6f0a-7c53-9a56-0d9c6f5f7a10"), uuidOf)

/** A path segment of any text, made such that the database can hold it. */
export const textParam = (description: string, example: string) =>
  Schema.String.annotate(about(description, example)).pipe(
    Schema.decodeTo(
      Schema.String,
      SchemaTransformation.transform({ decode: cleanText, encode: (text: string) => text })
    )
  )
