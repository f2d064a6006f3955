import * as Schema from "effect/Schema"
import type { JsonObject } from "../PayloadDecoder.ts"
import { eventType } from "./EventType.ts"
import { messageHeader, payloadOf, readHeader } from "./MessageHeader.ts"

const tool = {
  ...messageHeader,
  toolCallId: Schema.String,
  /** The decoded payload, in the spelling of its sender. */
  payload: Schema.JsonObject
}

const readTool = (json: JsonObject, toolCallId: string) => ({
  ...readHeader(json),
  toolCallId,
  payload: payloadOf(json)
})

/** An agent calls a tool. From ToolCall and ToolRequest, in any case; the subject is the call. */
export const ToolCalled = eventType("tool.called", tool, readTool)

/** A tool answered. From ToolResult, ToolCompleted and ToolOutput, in any case; the subject is the call. */
export const ToolCompleted = eventType("tool.completed", tool, readTool)
