import { memberOf, nameAt, nameOf } from "../AttributeValues.ts"
import type { MeaningKind } from "../Meaning.ts"
import type { Attributes } from "../Span.ts"
import { type Family, kindsBy } from "./Family.ts"

const kindOfSpan = kindsBy({
  AGENT: "agent",
  LLM: "model",
  EMBEDDING: "model",
  DECISION: "model",
  TOOL: "tool",
  RETRIEVER: "retrieval",
  RERANKER: "retrieval",
  GUARDRAIL: "guardrail",
  EVALUATOR: "evaluation"
})

/** The method that ran an agent: instrumentations name the span after both. */
const METHOD = /\.(?:a?run(?:_stream(?:ed)?)?|a?invoke|a?stream)$/

/** An id where a name is expected: some instrumentations number the nodes of their graph. */
const NUMBERED = /^(?:[0-9a-f]{16,}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22})$/i

const nodeName = (value: unknown): string | undefined => {
  const name = typeof value === "string" ? nameOf(value) : undefined
  return name === undefined || NUMBERED.test(name) ? undefined : name
}

/** OpenInference: instrumentations of Arize Phoenix. */
export const openInference: Family = {
  kind: ({ attributes, isRoot }) => {
    const stated = attributes["openinference.span.kind"]
    const upper = typeof stated === "string" ? stated.toUpperCase() : undefined
    if (upper === "CHAIN") return { kind: isRoot ? "workflow" : "other", operation: upper }
    const found = kindOfSpan(upper)
    if (found === undefined) return undefined
    if (upper === "EMBEDDING") return { ...found, operation: "embeddings" }
    return upper === "DECISION" ? { ...found, operation: "decision" } : found
  },
  agent: ({ attributes, name }, kind) => {
    const isAgent = kind === "agent" && attributes["openinference.span.kind"] !== undefined
    if (!isAgent) return undefined
    return (
      nameAt(attributes, "agent") ??
      nodeName(attributes["graph.node.name"]) ??
      nodeName(attributes["graph.node.id"]) ??
      (METHOD.test(name) ? nameOf(name.replace(METHOD, "")) : undefined)
    )
  },
  handoff: ({ attributes, name }, kind) => {
    const to = HANDOFF_NAME.exec(name)?.[1]
    if (to === undefined || !mayBeHandoff(kind)) return undefined
    return { from: sideOf(attributes["input.value"]), to: sideOf(attributes["output.value"]) ?? nameOf(to) }
  },
  calledBy: ({ attributes }, kind) => (kind === "agent" ? nodeName(attributes["graph.node.parent_id"]) : undefined),
  details: ({ attributes }) => {
    if (attributes["openinference.span.kind"] !== "LLM" || attributes["llm.model_name"] !== undefined) return undefined
    // Until a model answers, some instrumentations have its name in the request alone.
    const model = requestedModel(attributes)
    return model === undefined ? undefined : { "gen_ai.request.model": model }
  }
}

const requestedModel = (attributes: Attributes): string | undefined =>
  nameOf(memberOf(attributes["llm.invocation_parameters"], "model") ?? memberOf(attributes["input.value"], "model"))

const HANDOFF_NAME = /^handoff to (.+)$/i

const mayBeHandoff = (kind: MeaningKind): boolean => kind === "tool" || kind === "other"

/** The side of a handoff, unless the value is a document instead of a name. */
const sideOf = (value: unknown): string | undefined => {
  const name = typeof value === "string" && value.length <= 128 ? nameOf(value) : undefined
  return name === undefined || /^[{["]/.test(name) ? undefined : name
}
