import * as Schema from "effect/Schema"

/** RFC 4122 text, lower case. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const UUID_ANY_CASE = new RegExp(UUID.source, "i")
const UUID_V4_OR_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
/** Ids longer than a path parameter could not be requested; indexes have a limit as well. */
const BASE64URL_22 = /^[A-Za-z0-9_-]{22,512}$/

export const RunId = Schema.String.pipe(Schema.brand("RunId")).annotate({
  identifier: "RunId",
  description: "Id of a run: UUID, lower case"
})
export type RunId = typeof RunId.Type

export const isUuid = (text: string): boolean => UUID_ANY_CASE.test(text)

/**
 * The form of a session id that a descriptor may carry: UUID v4, UUID v7, or base64url of 22 to 512 characters. A UUID
 * of another version, or one not in canonical lower case, is refused although it also fits the base64url form, because
 * the runtime refuses it.
 */
export const isSessionId = (text: string): boolean =>
  UUID_ANY_CASE.test(text) ? UUID_V4_OR_V7.test(text) : BASE64URL_22.test(text)

/** Whether a session id can be the run's id as well. */
export const isUuidSessionId = (text: string): boolean => UUID_V4_OR_V7.test(text)
