import { Field, isOneLine, isSessionId } from "@runplane/domain"
import * as Schema from "effect/Schema"

/** Longest life of a token, apart from the time in which the last exports arrive. Milliseconds. */
export const MAX_TOKEN_TTL_MS = 7 * 86_400_000

/** The body of `POST /ingest/tokens`. */
export const JoinTokenRequest = Schema.Struct({
  sessionId: Field.text("Session whose run the spans may join, with or without a run").check(
    Schema.makeFilter((text: string) => isSessionId(text), {
      expected: "the id of a session: UUID v4, UUID v7, or base64url of 22 to 512 characters",
      toJsonSchema: () => ({ pattern: "^[A-Za-z0-9_-]{22,512}$" })
    })
  ),
  ttlMs: Field.integer("Time-to-live of the session, milliseconds; the token lives 15 minutes longer", 300_000).check(
    Schema.isBetween({ minimum: 1, maximum: MAX_TOKEN_TTL_MS })
  ),
  shadow: Schema.optionalKey(
    Field.text(
      "Name of the shadow that exports the spans: they have the resource attribute `runplane.shadow`, and no cost of the run",
      "risk-officer~risk-agent"
    ).check(Schema.isMinLength(1), Schema.isMaxLength(1_024), isOneLine)
  )
}).annotate({ identifier: "JoinTokenRequest", description: "The session that spans may join" })
export type JoinTokenRequest = typeof JoinTokenRequest.Type

export const JoinToken = Schema.Struct({
  token: Field.text("Value of the header `x-runplane-join`. It is a credential"),
  header: Field.text("The same as an entry of `OTEL_EXPORTER_OTLP_HEADERS`: `x-runplane-join=TOKEN`"),
  expiresAt: Field.time("When it ends")
}).annotate({ identifier: "JoinToken", description: "Lets the spans of its holder join the run of one session" })
export type JoinToken = typeof JoinToken.Type
