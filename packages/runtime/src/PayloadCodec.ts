import { createRegistry, type DescField, fromBinary, fromJson, type JsonObject, toBinary } from "@bufbuild/protobuf"
import { isReflectMessage, type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect"
import type { DecodedFields, PayloadDecoder } from "@runplane/domain"
import { file_macp_modes_decision_v1_decision } from "./gen/macp/modes/decision/v1/decision_pb.ts"
import { file_macp_modes_handoff_v1_handoff } from "./gen/macp/modes/handoff/v1/handoff_pb.ts"
import { file_macp_modes_multi_round_v1_multi_round } from "./gen/macp/modes/multi_round/v1/multi_round_pb.ts"
import { file_macp_modes_proposal_v1_proposal } from "./gen/macp/modes/proposal/v1/proposal_pb.ts"
import { file_macp_modes_quorum_v1_quorum } from "./gen/macp/modes/quorum/v1/quorum_pb.ts"
import { file_macp_modes_task_v1_task } from "./gen/macp/modes/task/v1/task_pb.ts"
import { file_macp_v1_core } from "./gen/macp/v1/core_pb.ts"
import { file_macp_v1_envelope } from "./gen/macp/v1/envelope_pb.ts"
import { file_macp_v1_policy } from "./gen/macp/v1/policy_pb.ts"

/** Every message of the protocol by its full name; for callers that build payloads by name. */
export const messageTypes = createRegistry(
  file_macp_v1_envelope,
  file_macp_v1_core,
  file_macp_v1_policy,
  file_macp_modes_decision_v1_decision,
  file_macp_modes_proposal_v1_proposal,
  file_macp_modes_task_v1_task,
  file_macp_modes_handoff_v1_handoff,
  file_macp_modes_quorum_v1_quorum,
  file_macp_modes_multi_round_v1_multi_round
)

/** Only declared fields are shown, so unknown ones are dropped. */
const READ_OPTIONS = { readUnknownFields: false }

/**
 * Decodes protobuf payload bytes by type name into plain JSON: camelCase keys, bytes as base64, 64-bit integers as
 * numbers, or as `bigint` where a double cannot hold them, enums by value name, non-finite numbers as text.
 *
 * A field that is not on the wire is not in the result: proto3 does not encode `false`, `0` and empty values, and a
 * reader must distinguish "not stated" from a stated value (an absent `outcomePositive` is inferred, never taken
 * for false). Undefined when the type is unknown or the bytes are not such a message; never throws.
 */
export const decodePayload: PayloadDecoder = (typeName, bytes) => {
  const type = messageTypes.getMessage(typeName)
  if (type === undefined) return undefined
  try {
    return messageToJson(reflect(type, fromBinary(type, bytes, READ_OPTIONS)))
  } catch {
    // The bytes come from other parties; "not such a message" is an expected answer of this function.
    return undefined
  }
}

/**
 * The bytes of a payload given as protobuf's JSON, by type name. Throws for an unknown type and for members that the
 * type does not have: both are faults of the program.
 */
export const encodePayload = (typeName: string, payload: JsonObject): Uint8Array => {
  const type = messageTypes.getMessage(typeName)
  if (type === undefined) throw new Error(`no payload has the type ${typeName}`)
  return toBinary(type, fromJson(type, payload))
}

const messageToJson = (message: ReflectMessage): DecodedFields => {
  const json: { [key: string]: unknown } = {}
  for (const field of message.fields) {
    if (message.isSet(field)) json[field.jsonName] = fieldToJson(message, field)
  }
  return json
}

const fieldToJson = (message: ReflectMessage, field: DescField): unknown => {
  switch (field.fieldKind) {
    case "enum":
      return field.enum.value[message.get(field)]?.name ?? message.get(field)
    case "list":
      return Array.from(message.get(field), valueToJson)
    case "map":
      // fromEntries, because keys come from the wire: assigning to "__proto__" would lose the entry.
      return Object.fromEntries(Array.from(message.get(field), ([key, value]) => [String(key), valueToJson(value)]))
    default:
      return valueToJson(message.get(field))
  }
}

const valueToJson = (value: unknown): unknown => {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value
    case "bigint":
      return Number.isSafeInteger(Number(value)) ? Number(value) : value
    case "number":
      return Number.isFinite(value) ? value : String(value)
    default:
      if (value instanceof Uint8Array) return base64(value)
      return isReflectMessage(value) ? messageToJson(value) : null
  }
}

const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64")
