import * as Base64 from "effect/encoding/Base64"
import type * as Schema from "effect/Schema"
import { cleanJson, cleanObject, cleanText } from "../values/CleanJson.ts"
import {
  type Altered,
  alteredOf,
  faultsBelow,
  type JsonFaults,
  messageFaults,
  parseExactJson
} from "../values/ExactJson.ts"
import type { JsonObject, PayloadDecoder } from "../values/PayloadDecoder.ts"
import type { RawEnvelope } from "./RuntimeFrames.ts"

const CORE = "macp.v1"

const typesOf = (proto: string, messageTypes: ReadonlyArray<string>): ReadonlyMap<string, string> =>
  new Map(messageTypes.map((messageType) => [messageType, `${proto}.${messageType}Payload`]))

const coreTypes = typesOf(CORE, [
  "SessionStart",
  "Commitment",
  "Signal",
  "Progress",
  "SessionCancel",
  "SessionSuspend",
  "SessionResume"
])

const typesByMode: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map([
  ["macp.mode.decision.v1", typesOf("macp.modes.decision.v1", ["Proposal", "Evaluation", "Objection", "Vote"])],
  [
    "macp.mode.proposal.v1",
    typesOf("macp.modes.proposal.v1", ["Proposal", "CounterProposal", "Accept", "Reject", "Withdraw"])
  ],
  [
    "macp.mode.task.v1",
    typesOf("macp.modes.task.v1", ["TaskRequest", "TaskAccept", "TaskReject", "TaskUpdate", "TaskComplete", "TaskFail"])
  ],
  [
    "macp.mode.handoff.v1",
    typesOf("macp.modes.handoff.v1", ["HandoffOffer", "HandoffContext", "HandoffAccept", "HandoffDecline"])
  ],
  ["macp.mode.quorum.v1", typesOf("macp.modes.quorum.v1", ["ApprovalRequest", "Approve", "Reject", "Abstain"])],
  ["ext.multi_round.v1", typesOf("macp.modes.multi_round.v1", ["Contribute"])]
])

/**
 * Full protobuf name of the payload that a message carries, undefined when the pair is not known. The same message type
 * means different payloads in different modes, so both are needed.
 */
export const payloadTypeName = (mode: string, messageType: string): string | undefined =>
  typesByMode.get(mode)?.get(messageType) ?? coreTypes.get(messageType)

export interface DecodedPayload {
  readonly payload: JsonObject
  /** Present when the payload was decoded as this protobuf message. */
  readonly payloadTypeName?: string
  readonly encoding: "protobuf" | "json" | "text" | "binary"
  /** False when the payload is only carried along, as text or as bytes. */
  readonly decoded: boolean
  /** The differences between the payload and the text of its sender. */
  readonly altered?: Altered
}

const OPENING_BRACE = 0x7b
const utf8 = new TextDecoder("utf-8", { fatal: true })
const lossyUtf8 = new TextDecoder()

/**
 * Decodes the payload of an envelope (docs/reference/events.md#payload-decoding): the protobuf message of its (mode,
 * message type), else UTF-8 JSON (an object as it is, any other value as `{json, encoding: "json"}`), else `{text,
 * encoding: "text", payloadBase64}`, else, for bytes that are not text, `{payloadBase64}`.
 *
 * Bytes that start with `{` are tried as JSON first. That is the rule of the multi_round mode, and safe in every mode:
 * the byte would be the tag of a group numbered 15, which no payload message has.
 */
export const decodePayload = (decode: PayloadDecoder, envelope: RawEnvelope): DecodedPayload => {
  const bytes = envelope.payload
  if (bytes[0] === OPENING_BRACE) {
    const json = parseExactObject(textOf(bytes))
    if (json !== undefined) return marked({ payload: json.object, encoding: "json", decoded: true }, json.faults)
  }
  const typeName = payloadTypeName(envelope.mode, envelope.messageType)
  if (typeName !== undefined) {
    const message = decode(typeName, bytes)
    if (message !== undefined) {
      const payload = cleanObject(message)
      return marked({ payload, payloadTypeName: typeName, encoding: "protobuf", decoded: true }, messageFaults(message))
    }
  }
  if (bytes.length === 0) return { payload: {}, encoding: "binary", decoded: true }
  const text = textOf(bytes)
  if (text === undefined) {
    return { payload: { payloadBase64: Base64.encode(bytes) }, encoding: "binary", decoded: false }
  }
  const json = parseExactJson(text)
  if (json !== undefined) {
    return isObject(json.value)
      ? marked({ payload: cleanObject(json.value), encoding: "json", decoded: true }, json.faults)
      : marked(
          { payload: cleanObject({ json: json.value, encoding: "json" }), encoding: "json", decoded: true },
          faultsBelow("json", json.faults)
        )
  }
  const payload = { text: cleanText(text), encoding: "text", payloadBase64: Base64.encode(bytes) }
  return { payload, encoding: "text", decoded: false }
}

const marked = (decoded: DecodedPayload, faults: JsonFaults): DecodedPayload => {
  const altered = alteredOf(faults)
  return altered === undefined ? decoded : { ...decoded, altered }
}

/** Parses JSON text that must be an object no deeper than `MAX_JSON_DEPTH`; undefined for anything else. */
export const parseJsonObject = (text: string | undefined): JsonObject | undefined => parseExactObject(text)?.object

/** `parseJsonObject`, with what the object could not keep. */
export const parseExactObject = (
  text: string | undefined
): { readonly object: JsonObject; readonly faults: JsonFaults } | undefined => {
  const json = text === undefined ? undefined : parseExactJson(text)
  return isObject(json?.value) ? { object: cleanObject(json.value), faults: json.faults } : undefined
}

/** Parses JSON text of any value no deeper than `MAX_JSON_DEPTH`, cleaned; undefined when it is not such a text. */
export const parseJsonText = (text: string): Schema.Json | undefined => {
  const parsed = parseExactJson(text)
  return parsed && cleanJson(parsed.value)
}

/** The text of UTF-8 bytes, undefined when they are not UTF-8. */
export const textOf = (bytes: Uint8Array): string | undefined => {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

/** The text of any bytes: invalid UTF-8 reads as U+FFFD. */
export const lossyTextOf = (bytes: Uint8Array): string => lossyUtf8.decode(bytes)

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value)
