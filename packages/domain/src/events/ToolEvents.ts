import * as Schema from "effect/Schema"
import { eventType } from "./EventType.ts"
import { member, wholePayload } from "./Members.ts"
import { messageHeader } from "./MessageHeader.ts"

const tool = {
  ...messageHeader,
  toolCallId: member(Schema.String, ({ subjectId }) => subjectId),
  payload: wholePayload
}

/** An agent calls a tool. From ToolCall and ToolRequest, in any case; the subject is the call. */
export const ToolCalled = eventType("tool.called", tool)

/** A tool answered. From ToolResult, ToolCompleted and ToolOutput, in any case; the subject is the call. */
export const ToolCompleted = eventType("tool.completed", tool)
