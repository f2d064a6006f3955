import type * as Schema from "effect/Schema"
import type { CanonicalEvent, EventOf } from "../events/CanonicalEvent.ts"
import { sentenceOf } from "../narrative/Narration.ts"
import { type Because, sentenceText } from "../narrative/Sentence.ts"
import { derivesEvent } from "../normaliser/DerivedEvents.ts"
import { boundName, boundPayload, boundProse } from "../values/Bounds.ts"
import { textAt } from "../values/JsonReader.ts"
import type { JsonObject } from "../values/PayloadDecoder.ts"
import { shownText } from "../values/VisibleText.ts"
import type { AgUiEvent } from "./AgUiEvent.ts"

/** Bounds of what an AG-UI event copies from a canonical event, bytes of JSON (docs/reference/ag-ui.md#bounds). */
const MAX_TEXT_BYTES = 32 * 1024
const MAX_VALUE_BYTES = 16 * 1024

/** A front end shows texts as text: only hidden characters are left out, and a long reason is cut. */
const visible = (text: string) => shownText(text, { lines: true })
const because: Because = (words = "") => {
  const shown = visible(words)
  return shown.trim() === "" ? "" : `: ${boundProse(shown, MAX_TEXT_BYTES)}`
}

/**
 * The text message of an event that a participant sent as a message; empty for other events. The text names its sender
 * too, because many front ends do not show the name of a message. `about` names the subject of an answer, where there
 * are several.
 */
export const messageEvents = (event: CanonicalEvent, about?: string): ReadonlyArray<AgUiEvent> => {
  if (!isMessage(event)) return []
  const sentence = sentenceOf(event, about)
  if (sentence === undefined || sentence.weight === "repeated") return []
  const { id: messageId } = event
  const common = { timestamp: Date.parse(event.ts), messageId }
  const name = event.data.sender === "" ? {} : { name: boundName(visible(event.data.sender)) }
  const text = visible(`${sentence.who} ${sentenceText(sentence, because)}`)
  return [
    { type: "TEXT_MESSAGE_START", ...common, role: "assistant", ...name },
    { type: "TEXT_MESSAGE_CONTENT", ...common, delta: boundProse(text, MAX_TEXT_BYTES) },
    { type: "TEXT_MESSAGE_END", ...common }
  ]
}

const isMessage = (
  event: CanonicalEvent
): event is EventOf<"message.received" | "proposal.created" | "proposal.updated" | "decision.finalized"> =>
  event.type === "message.received" ||
  event.type === "proposal.created" ||
  event.type === "proposal.updated" ||
  event.type === "decision.finalized"

/** The tool call or the result of an event; empty for other events. */
export const toolEvents = (event: CanonicalEvent): ReadonlyArray<AgUiEvent> => {
  if (event.type !== "tool.called" && event.type !== "tool.completed") return []
  const { payload, sender, toolCallId: stated } = event.data
  const timestamp = Date.parse(event.ts)
  const toolCallId = stated === "" ? event.id : boundName(stated)
  const metadata = { participant: boundName(sender) }
  if (event.type === "tool.completed") {
    const content = textOf(memberOf(payload, "result", "output", "content"))
    return [{ type: "TOOL_CALL_RESULT", timestamp, metadata, messageId: event.id, toolCallId, content, role: "tool" }]
  }
  const toolCallName = boundName(visible(textAt(payload, "name", "toolName", "tool_name", "tool") ?? "tool"))
  const delta = textOf(memberOf(payload, "arguments", "args", "input"))
  return [
    { type: "TOOL_CALL_START", timestamp, metadata, toolCallId, toolCallName },
    { type: "TOOL_CALL_ARGS", timestamp, metadata, toolCallId, delta },
    { type: "TOOL_CALL_END", timestamp, metadata, toolCallId }
  ]
}

/** The first of these members that the payload has; else all of it. */
const memberOf = (payload: JsonObject, ...names: ReadonlyArray<string>): Schema.Json => {
  const name = names.find((one) => Object.hasOwn(payload, one))
  return name === undefined ? payload : (payload[name] ?? null)
}

const textOf = (value: Schema.Json): string =>
  typeof value === "string"
    ? boundProse(visible(value), MAX_TEXT_BYTES)
    : JSON.stringify(boundPayload(value, MAX_TEXT_BYTES))

/** An event as it was recorded, cut to a bound: `runplane.` and its type. */
export const customEvent = (event: CanonicalEvent): AgUiEvent => {
  const { data, id, seq, ts, type } = event.recorded
  const { subject } = event
  return {
    type: "CUSTOM",
    timestamp: Date.parse(ts),
    name: `runplane.${boundName(type)}`,
    value: {
      id,
      seq,
      ts,
      ...(subject !== undefined && { subject: { kind: subject.kind, id: boundName(subject.id) } }),
      data: boundPayload(data, MAX_VALUE_BYTES)
    }
  }
}

/** Whether the other events of AG-UI, or the state, say all that matters of an event. */
export const isNoise = (event: CanonicalEvent): boolean => {
  switch (event.type) {
    case "run.created":
    case "run.started":
    case "run.completed":
    case "run.failed":
    case "run.cancelled":
    case "run.corrected":
    case "session.stream.opened":
    case "session.state.changed":
    case "participant.seen":
    case "message.sent":
    case "tool.called":
    case "tool.completed":
      return true
    case "message.received":
      return event.data.messageType === "SessionStart" || derivesEvent(event.data.messageType)
    default:
      return false
  }
}
