import { Seal } from "@runplane/domain"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Seal))

/** A seal by its stored text; undefined for a text that a writer of the database has altered beyond a seal. */
export const readStoredSeal = (text: string): Seal | undefined => Option.getOrUndefined(decode(text))
