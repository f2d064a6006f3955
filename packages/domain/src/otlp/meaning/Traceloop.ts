import { nameAt, nameOf } from "../AttributeValues.ts"
import { type Family, kindsBy } from "./Family.ts"

const kindOfSpan = kindsBy({ workflow: "workflow", agent: "agent", tool: "tool", task: "other", handoff: "handoff" })

const kindOfRequest = kindsBy({
  chat: "model",
  completion: "model",
  embedding: "model",
  rerank: "retrieval"
})

const ARROW = /^(.+?)\s*(?:→|->)\s*(.+?)(?:\.handoff)?$/

/** OpenLLMetry: instrumentations of Traceloop. */
export const traceloop: Family = {
  kind: ({ attributes }) => {
    const request = kindOfRequest(attributes["llm.request.type"])
    const found = kindOfSpan(attributes["traceloop.span.kind"]) ?? request
    return found === request && request?.operation === "embedding" ? { ...request, operation: "embeddings" } : found
  },
  agent: ({ attributes }, kind) =>
    kind === "agent" && attributes["traceloop.span.kind"] !== undefined
      ? (nameAt(attributes, "agent") ?? nameOf(attributes["traceloop.entity.name"]))
      : undefined,
  workflow: ({ attributes }, kind) => (kind === "workflow" ? nameOf(attributes["traceloop.entity.name"]) : undefined),
  handoff: ({ attributes, name }, kind) => {
    if (kind !== "handoff" || attributes["traceloop.span.kind"] === undefined) return undefined
    const [, from, to] = ARROW.exec(name) ?? []
    return { from: nameOf(from), to: nameOf(to) }
  },
  toolName: ({ attributes }) => nameOf(attributes["traceloop.entity.name"])
}
