import { isDeeperThan, MAX_JSON_DEPTH } from "@runplane/domain"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { JsonObject } from "./Json.ts"

const parse = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))
const read = Schema.decodeUnknownOption(Schema.JsonObject)

/** A text of an agent as a JSON object. Its depth is checked before a function walks through it, which has a stack. */
export const readRemoteJson = (text: string): Option.Option<JsonObject> =>
  Option.flatMap(parse(text), (value) => (isDeeperThan(value, MAX_JSON_DEPTH) ? Option.none() : read(value)))
