import * as Schema from "effect/Schema"
import { Field } from "../values/Field.ts"
import { arrayAt, isJsonObject, numberAt, textAt, textsAt } from "../values/JsonReader.ts"
import type { JsonObject } from "../values/PayloadDecoder.ts"

/** One reason of a policy to refuse a message (docs/reference/events.md#policy-denied). */
export const DenialReason = Schema.Struct({
  code: Field.text("Machine-readable code; the set is open, and unknown codes are possible", "threshold_not_met"),
  message: Field.text("In words, without ids of participants"),
  participants: Schema.optionalKey(Field.texts("Participants that the reason is about, such as those who object")),
  participantsOmitted: Schema.optionalKey(Field.integer("How many more there are; absent for none"))
}).annotate({ identifier: "DenialReason", description: "A reason of a policy to refuse a message" })
export type DenialReason = typeof DenialReason.Type

/** The reasons of a denial. */
export interface KeptDenials {
  readonly denials: ReadonlyArray<DenialReason>
  /** How many more the runtime sent; absent for none. */
  readonly denialsOmitted?: number
}

/**
 * The member `denials` of a JSON object. An entry without code and message is skipped; a message without a code has the
 * code `unspecified`, like a reason that the runtime has in words only.
 */
export const denialsOf = (object: JsonObject): KeptDenials => {
  const omitted = countAt(object, "denialsOmitted")
  return {
    denials: (arrayAt(object, "denials") ?? []).filter(isJsonObject).flatMap(reasonOf),
    ...(omitted > 0 && { denialsOmitted: omitted })
  }
}

const UNSPECIFIED = "unspecified"

const reasonOf = (entry: JsonObject): ReadonlyArray<DenialReason> => {
  const code = textAt(entry, "code")
  const message = textAt(entry, "message") ?? code
  if (message === undefined) return []
  const participants = textsAt(entry, "participants")
  const participantsOmitted = countAt(entry, "participantsOmitted")
  return [
    {
      code: code ?? UNSPECIFIED,
      message,
      ...(participants.length > 0 && { participants }),
      ...(participantsOmitted > 0 && { participantsOmitted })
    }
  ]
}

const countAt = (object: JsonObject, name: string): number => {
  const count = numberAt(object, name) ?? 0
  return Number.isSafeInteger(count) && count > 0 ? count : 0
}
