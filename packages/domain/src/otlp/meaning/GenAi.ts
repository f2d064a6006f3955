import { nameAt, nameOf } from "../AttributeValues.ts"
import { type Family, kindsBy } from "./Family.ts"

const kindOfOperation = kindsBy({
  invoke_agent: "agent",
  invoke_workflow: "workflow",
  invoke_swarm: "workflow",
  invoke_graph: "workflow",
  create_agent: "construction",
  create_workflow: "construction",
  chat: "model",
  text_completion: "model",
  generate_content: "model",
  "chat.completions": "model",
  "text.completions": "model",
  completion: "model",
  acompletion: "model",
  responses: "model",
  aresponses: "model",
  generate: "model",
  message: "model",
  embeddings: "model",
  embedding: "model",
  aembedding: "model",
  decision: "model",
  execute_tool: "tool",
  handoff: "handoff",
  retrieval: "retrieval",
  rerank: "retrieval",
  plan: "plan",
  apply_guardrail: "guardrail",
  guardrail: "guardrail",
  request_approval: "approval",
  approval: "approval",
  evaluate: "evaluation",
  evaluation: "evaluation"
})

/** `invoke_agent X`: the conventions name a span by its operation and its subject. */
const subjectOf = (name: string, operation: string): string | undefined =>
  name.startsWith(`${operation} `) ? nameOf(name.slice(operation.length + 1)) : undefined

/** The GenAI conventions of OpenTelemetry, of all generations. */
export const genAi: Family = {
  kind: ({ attributes }) => kindOfOperation(attributes["gen_ai.operation.name"]),
  agent: ({ attributes, name }, kind) => {
    // A workflow is named in the same way, and is not a participant.
    if (kind === "workflow" || kind === "construction") return undefined
    const stated = nameAt(attributes, "agent")
    if (stated !== undefined || kind !== "agent") return stated
    const subject = subjectOf(name, "invoke_agent")
    // Some emitters put the model there.
    const isModel = subject === nameAt(attributes, "model") || subject === nameOf(attributes["gen_ai.request.model"])
    return (isModel ? undefined : subject) ?? nameAt(attributes, "agentId")
  },
  workflow: ({ attributes, name }, kind) =>
    nameAt(attributes, "workflow") ??
    (kind === "workflow" && attributes["gen_ai.operation.name"] !== undefined
      ? (nameAt(attributes, "agent") ?? subjectOf(name, "invoke_workflow") ?? subjectOf(name, "invoke_swarm"))
      : undefined),
  handoff: ({ attributes }, kind) =>
    kind === "handoff"
      ? {
          from: nameOf(attributes["gen_ai.handoff.from_agent"]) ?? nameOf(attributes["gen_ai.handoff.source"]),
          to:
            nameOf(attributes["gen_ai.handoff.to_agent"]) ??
            nameOf(attributes["gen_ai.handoff.target"]) ??
            nameOf(attributes["gen_ai.handoff.to"])
        }
      : undefined,
  toolName: ({ name }) => subjectOf(name, "execute_tool")
}
