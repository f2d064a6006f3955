import { isUuid } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import { UUID_EXPECTED } from "./Params.ts"
import { violation } from "./Violations.ts"

/** A path segment that must be a UUID; made lower case (http-details section 3.2, "malformed uuid in a path"). */
export const UuidParam = Schema.String.annotate({
  description: "Id: UUID",
  examples: ["0197c0de-6f0a-7c53-9a56-0d9c6f5f7a10"]
}).pipe(
  Schema.decodeTo(
    Schema.String,
    SchemaTransformation.transformEffect({
      decode: (text) => (isUuid(text) ? Effect.succeed(text.toLowerCase()) : Effect.fail(violation(UUID_EXPECTED))),
      encode: (text) => Effect.succeed(text)
    })
  )
)
