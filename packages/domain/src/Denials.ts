import * as Schema from "effect/Schema"
import { Field } from "./Field.ts"
import { arrayAt, isJsonObject, numberAt, textAt, textsAt } from "./JsonReader.ts"
import type { JsonObject } from "./PayloadDecoder.ts"
import { parseJsonObject, textOf } from "./PayloadTypes.ts"
import { boundName, boundProse, bytesOfText } from "./projector/Bounds.ts"

/** One reason of a policy to refuse a message (docs/reference/events.md#policy-denied). */
export const DenialReason = Schema.Struct({
  code: Field.text("Machine-readable code; the set is open, and unknown codes are possible", "threshold_not_met"),
  message: Field.text("In words, without ids of participants"),
  participants: Schema.optionalKey(Field.texts("Participants that the reason is about, such as those who object")),
  participantsOmitted: Schema.optionalKey(Field.integer("How many more there are; absent for none"))
}).annotate({ identifier: "DenialReason", description: "A reason of a policy to refuse a message" })
export type DenialReason = typeof DenialReason.Type

/** The reasons as an event keeps them. */
export interface KeptDenials {
  readonly denials: ReadonlyArray<DenialReason>
  /** How many more the runtime sent; absent for none. */
  readonly denialsOmitted?: number
}

/** Reasons of one denial that are kept, the first ones. */
export const MAX_DENIALS = 50
/** Participants of one reason that are kept, the first ones. */
export const MAX_DENIAL_PARTICIPANTS = 100
/** Of all reasons of one denial together, bytes of their texts as JSON. */
export const MAX_DENIAL_BYTES = 16 * 1024
const MAX_MESSAGE_BYTES = 2_048

/**
 * The member `denials` of a JSON object whose writer is not trusted, bounded. An entry without code and message is
 * skipped; a message without a code has the code `unspecified`, like a reason that the runtime has in words only.
 * `redact` applies to each text before it is cut.
 */
export const denialsIn = (object: JsonObject, redact: Redact = unchanged): KeptDenials => {
  const denials: Array<DenialReason> = []
  let left = MAX_DENIAL_BYTES
  let omitted = countAt(object, "denialsOmitted")
  for (const entry of arrayAt(object, "denials") ?? []) {
    if (!isJsonObject(entry)) continue
    const stated = textAt(entry, "code")
    const message = textAt(entry, "message") ?? stated
    if (message === undefined) continue
    const kept = {
      code: boundName(redact(stated ?? UNSPECIFIED)),
      message: boundProse(redact(message), MAX_MESSAGE_BYTES)
    }
    const bytes = bytesOfText(kept.code, left) + bytesOfText(kept.message, left)
    if (denials.length >= MAX_DENIALS || bytes > left) {
      omitted += 1
      continue
    }
    left -= bytes
    const named = textsAt(entry, "participants")
    const participants: Array<string> = []
    for (const name of named.slice(0, MAX_DENIAL_PARTICIPANTS)) {
      const bounded = boundName(redact(name))
      const size = bytesOfText(bounded, left)
      if (size > left) break
      left -= size
      participants.push(bounded)
    }
    const unnamed = named.length - participants.length + countAt(entry, "participantsOmitted")
    denials.push({
      ...kept,
      ...(participants.length > 0 && { participants }),
      ...(unnamed > 0 && { participantsOmitted: unnamed })
    })
  }
  return { denials, ...(omitted > 0 && { denialsOmitted: omitted }) }
}

type Redact = (text: string) => string

const unchanged: Redact = (text) => text

const UNSPECIFIED = "unspecified"

const countAt = (object: JsonObject, name: string): number => {
  const count = numberAt(object, name) ?? 0
  return Number.isSafeInteger(count) && count > 0 ? count : 0
}

/** The details of an error with the code POLICY_DENIED (docs/internals/runtime.md#denial-details). */
export interface DenialDetails extends KeptDenials {
  /** The reasons in words alone, which is all that runtimes before 0.9 send. */
  readonly reasons: ReadonlyArray<string>
}

/** Reads the details, UTF-8 JSON `{"reasons": [...], "denials": [...]}`. Other bytes have no reason. */
export const readDenialDetails = (details: Uint8Array, redact: Redact = unchanged): DenialDetails => {
  const object = details.length === 0 ? undefined : parseJsonObject(textOf(details))
  if (object === undefined) return { reasons: [], denials: [] }
  const kept = denialsIn(object, redact)
  const listed = textsAt(object, "reasons").map(redact)
  return { reasons: listed.length > 0 ? listed : kept.denials.map(({ message }) => message), ...kept }
}

/** A reason as one text, with its code and its participants. */
export const denialText = ({ code, message, participants = [], participantsOmitted = 0 }: DenialReason): string => {
  const others = participantsOmitted > 0 ? ` and ${participantsOmitted} more` : ""
  return `${code}: ${message}${participants.length === 0 ? others : ` (${participants.join(", ")}${others})`}`
}
