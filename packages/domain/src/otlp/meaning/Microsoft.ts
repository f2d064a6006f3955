import { nameOf } from "../AttributeValues.ts"
import type { Family } from "./Family.ts"

/** Agent Framework of Microsoft: workflows of executors that send messages. */
export const microsoft: Family = {
  kind: ({ attributes, name }) => {
    if (name === "workflow.build" || attributes["workflow_builder.name"] !== undefined) {
      return { kind: "construction", operation: "workflow.build" }
    }
    if (name === "workflow.run" || name.startsWith("workflow.run ")) {
      return { kind: "workflow", operation: "workflow.run" }
    }
    if (name.startsWith("executor.process") || attributes["executor.id"] !== undefined) {
      return { kind: "step", operation: "executor.process" }
    }
    const isSent = name === "message.send" && attributes["message.destination_executor_id"] !== undefined
    return isSent ? { kind: "handoff", operation: "message.send" } : undefined
  },
  agent: ({ attributes }, kind) => (kind === "step" ? nameOf(attributes["executor.id"]) : undefined),
  workflow: ({ attributes, name }, kind) =>
    kind === "workflow" && name.startsWith("workflow.run") ? nameOf(attributes["workflow.id"]) : undefined,
  handoff: ({ attributes }, kind) =>
    kind === "handoff" ? { to: nameOf(attributes["message.destination_executor_id"]) } : undefined
}
