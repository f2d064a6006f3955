import { parseJsonObject, textOf } from "../frames/PayloadTypes.ts"
import { boundName, boundProse, bytesOfText } from "../values/Bounds.ts"
import { textsAt } from "../values/JsonReader.ts"
import type { JsonObject } from "../values/PayloadDecoder.ts"
import { type DenialReason, denialsOf, type KeptDenials } from "./Denials.ts"

/**
 * Reasons of a writer that is not trusted. Apart from `Denials.ts`, which every reader of events loads, also the first
 * page of the console.
 */

/** Reasons of one denial that are kept, the first ones. */
export const MAX_DENIALS = 50
/** Participants of one reason that are kept, the first ones. */
export const MAX_DENIAL_PARTICIPANTS = 100
/** Of all reasons of one denial together, bytes of their texts as JSON. */
export const MAX_DENIAL_BYTES = 16 * 1024
const MAX_MESSAGE_BYTES = 2_048

type Redact = (text: string) => string

const unchanged: Redact = (text) => text

/** The first reasons that fit, and how many more there are. `redact` applies to each text before it is cut. */
export const boundDenials = (stated: KeptDenials, redact: Redact = unchanged): KeptDenials => {
  const denials: Array<DenialReason> = []
  let left = MAX_DENIAL_BYTES
  let omitted = stated.denialsOmitted ?? 0
  for (const { code, message, participants: named = [], participantsOmitted = 0 } of stated.denials) {
    const kept = { code: boundName(redact(code)), message: boundProse(redact(message), MAX_MESSAGE_BYTES) }
    const bytes = bytesOfText(kept.code, left) + bytesOfText(kept.message, left)
    if (denials.length >= MAX_DENIALS || bytes > left) {
      omitted += 1
      continue
    }
    left -= bytes
    const participants: Array<string> = []
    for (const name of named.slice(0, MAX_DENIAL_PARTICIPANTS)) {
      const bounded = boundName(redact(name))
      const size = bytesOfText(bounded, left)
      if (size > left) break
      left -= size
      participants.push(bounded)
    }
    const unnamed = named.length - participants.length + participantsOmitted
    denials.push({
      ...kept,
      ...(participants.length > 0 && { participants }),
      ...(unnamed > 0 && { participantsOmitted: unnamed })
    })
  }
  return { denials, ...(omitted > 0 && { denialsOmitted: omitted }) }
}

/** The member `denials` of a JSON object, bounded. */
export const denialsIn = (object: JsonObject, redact: Redact = unchanged): KeptDenials =>
  boundDenials(denialsOf(object), redact)

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
