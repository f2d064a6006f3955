import { nameOf } from "../AttributeValues.ts"
import { failureOf } from "./Failures.ts"
import { type Family, kindsBy } from "./Family.ts"

const kindOfObservation = kindsBy({
  generation: "model",
  embedding: "model",
  agent: "agent",
  tool: "tool",
  chain: "other",
  span: "other",
  event: "other",
  retriever: "retrieval",
  guardrail: "guardrail",
  evaluator: "evaluation"
})

/** The SDK of Langfuse: the name of an observation is the name of its span. */
export const langfuse: Family = {
  kind: ({ attributes }) => {
    const found = kindOfObservation(attributes["langfuse.observation.type"])
    return found?.operation === "embedding" ? { ...found, operation: "embeddings" } : found
  },
  agent: ({ attributes, name }, kind) =>
    kind === "agent" && attributes["langfuse.observation.type"] === "agent" ? nameOf(name) : undefined,
  failure: ({ attributes }) =>
    attributes["langfuse.observation.level"] === "ERROR"
      ? failureOf(undefined, attributes["langfuse.observation.status_message"])
      : undefined,
  toolName: ({ attributes, name }) => (attributes["langfuse.observation.type"] === "tool" ? nameOf(name) : undefined)
}

const kindOfMastra = kindsBy({
  agent_run: "agent",
  workflow_run: "workflow",
  model_generation: "model",
  llm_generation: "model",
  tool_call: "tool",
  mcp_tool_call: "tool"
})

/** Mastra, where it states no operation of the conventions. */
export const mastra: Family = {
  kind: ({ attributes }) => kindOfMastra(attributes["mastra.span.type"] ?? attributes["mastra.span_type"])
}

const kindOfClaude = kindsBy({
  "claude_code.interaction": "other",
  "claude_code.llm_request": "model",
  "claude_code.tool": "tool"
})

/** The Claude Agent SDK, whose attributes have names without a prefix. */
export const claude: Family = {
  kind: ({ name }) => kindOfClaude(name),
  agent: ({ attributes, name }) =>
    name.startsWith("claude_code.")
      ? (nameOf(attributes["agent.name"]) ?? nameOf(attributes["subagent_type"]))
      : undefined,
  toolName: ({ attributes, name }) => (name.startsWith("claude_code.") ? nameOf(attributes["tool_name"]) : undefined)
}
