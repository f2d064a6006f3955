import * as Schema from "effect/Schema"
import { textAt } from "../values/JsonReader.ts"
import { inData, type Member, member, textOr } from "./Members.ts"

const header = textOr(inData.text(), "")

/** Kind of the runtime of runs that come from OpenTelemetry. */
export const OTLP_RUNTIME_KIND = "otlp"

/** Source of the events that come from spans. */
export const OTLP_SOURCE_NAME = "otlp"

/** Mode of the messages of runs that come from OpenTelemetry. */
export const OTLP_MODE_NAME = "otlp.trace"

/** The members of a message that every event derived from it has; a missing text is empty. */
export const messageHeader = {
  /** Mode of the session. */
  modeName: header,
  /** The runtime's message type. */
  messageType: header,
  messageId: header,
  sessionId: header,
  /** Participant that sent it. */
  sender: header
}

/** A member that only messages of some types have. */
export const ofTypes = <S extends Schema.Constraint>(
  has: (messageType: string) => boolean,
  { read, schema }: Member<S>
) =>
  member(Schema.UndefinedOr(schema), (said, name) =>
    has(textAt(said.data, "messageType") ?? "") ? read(said, name) : undefined
  )
