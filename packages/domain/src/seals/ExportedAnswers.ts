import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { PEOPLE_ANSWER } from "../events/PeopleFacts.ts"
import { isJsonObject, objectAt, textAt } from "../values/JsonReader.ts"
import type { JsonObject } from "../values/PayloadDecoder.ts"
import { textOf } from "./Verification.ts"

/** The record of the answer of a person in an export, with its message in the session. */
export interface ExportedAnswer {
  /** Undefined once it is erased, and where the archive does not have it. */
  readonly content: JsonObject | undefined
  readonly message: { readonly messageType: string; readonly payload: JsonObject } | undefined
}

const parse = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Json))

const objectOf = (bytes: Uint8Array): JsonObject | undefined => {
  const value = Option.getOrUndefined(parse(textOf(bytes)))
  return isJsonObject(value) ? value : undefined
}

/** The answers of people among artifacts; the events are read only where one of them names its message. */
export const answersAmong = (
  artifacts: Iterable<Uint8Array>,
  events: Iterable<Uint8Array>
): ReadonlyArray<ExportedAnswer> => {
  const contents = [...artifacts].flatMap((bytes) => {
    const artifact = objectOf(bytes)
    return artifact?.["kind"] === PEOPLE_ANSWER ? [objectAt(artifact, "inline")] : []
  })
  const messages = new Map<string, ExportedAnswer["message"]>()
  const wanted = new Set(contents.flatMap((content) => (content && textAt(content, "messageId")) ?? []))
  for (const bytes of wanted.size === 0 ? [] : events) {
    const event = objectOf(bytes)
    const data = event && objectAt(event, "data")
    const payload = data && objectAt(data, "decodedPayload")
    const id = data && textAt(data, "messageId")
    if (payload === undefined || id === undefined || !wanted.has(id)) continue
    messages.set(id, { messageType: textAt(data ?? {}, "messageType") ?? "", payload })
  }
  return contents.map((content) => ({
    content,
    message: messages.get((content && textAt(content, "messageId")) ?? "")
  }))
}
