import { about, isSessionId, isUuid, unstorableIn } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import { sentence } from "./Violations.ts"

export const UUID_EXPECTED = "Validation failed (uuid is expected)"

const idParam = (shown: Schema.Codec<string>, read: (text: string) => string | undefined) =>
  shown.pipe(
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
  Schema.String.annotate(
    about(
      "Run id (UUID), or the id of the run's session when that is not a UUID",
      "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10"
    )
  ).check(
    Schema.makeFilter(() => true, {
      // The form of both: a UUID consists of the same characters.
      toJsonSchema: () => ({ pattern: "^[A-Za-z0-9_-]{22,512}$" })
    })
  ),
  (text) => uuidOf(text) ?? (isSessionId(text) ? text : undefined)
)

/** A path segment that must be a UUID; made lower case. */
export const UuidParam = idParam(
  Schema.String.annotate({ ...about("Id: UUID", "0197c0de-6f0a-7c53-9a56-0d9c6f5f7a10"), format: "uuid" }),
  uuidOf
)

/** A path segment of any text that the database can hold. */
export const textParam = (description: string, example: string) =>
  Schema.String.annotate(about(description, example)).pipe(
    Schema.decodeTo(
      Schema.String,
      SchemaTransformation.transformEffect({
        decode: (text) => {
          const unstorable = unstorableIn(text)
          return unstorable === undefined
            ? Effect.succeed(text)
            : Effect.fail(sentence(`Validation failed (the path must not contain ${unstorable.what})`))
        },
        encode: (text: string) => Effect.succeed(text)
      })
    )
  )
