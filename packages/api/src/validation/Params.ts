import { cleanText, isSessionId, isUuid } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import { violation } from "./Violations.ts"

export const UUID_EXPECTED = "Validation failed (uuid is expected)"

/**
 * The `:id` of a run: a UUID (made lower case), or the id of a session that is no UUID, which the handler resolves
 * (http-details section 15). Anything else is refused with `Validation failed (uuid is expected)`.
 */
export const RunReference = Schema.String.annotate({
  description: "Run id (UUID), or the id of the run's session when that is no UUID",
  examples: ["5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10"]
}).pipe(
  Schema.decodeTo(
    Schema.String,
    SchemaTransformation.transformEffect({
      decode: (text) => {
        if (isUuid(text)) return Effect.succeed(text.toLowerCase())
        return isSessionId(text) ? Effect.succeed(text) : Effect.fail(violation(UUID_EXPECTED))
      },
      encode: (text) => Effect.succeed(text)
    })
  )
)

/** A path segment of any text, made such that the database can hold it. */
export const textParam = (description: string, example: string) =>
  Schema.String.annotate({ description, examples: [example] }).pipe(
    Schema.decodeTo(
      Schema.String,
      SchemaTransformation.transform({ decode: cleanText, encode: (text: string) => text })
    )
  )
