import type * as Schema from "effect/Schema"

export type JsonObject = Schema.JsonObject

/**
 * Decodes the protobuf bytes of a payload message, named by its full type name
 * (`macp.modes.decision.v1.VotePayload`), into a plain object: camelCase keys, bytes as base64, 64-bit integers as
 * numbers, or as `bigint` where a double cannot hold them. Undefined when the type is unknown or the bytes are not such
 * a message; never throws.
 */
export type PayloadDecoder = (typeName: string, bytes: Uint8Array) => DecodedFields | undefined

export type DecodedFields = Readonly<Record<string, unknown>>
