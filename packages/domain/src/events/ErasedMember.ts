import * as Schema from "effect/Schema"
import { Field } from "../values/Field.ts"

/** What an erased event says of a member whose value was erased. */
export const ErasedMember = Schema.Struct({
  pointer: Field.text("JSON pointer of the member in the event", "/data/decodedPayload/reason"),
  at: Field.time("When it was erased"),
  reason: Field.text("Why", "request of the person")
}).annotate({ identifier: "ErasedMember", description: "A member of an event whose value was erased" })
export type ErasedMember = typeof ErasedMember.Type
