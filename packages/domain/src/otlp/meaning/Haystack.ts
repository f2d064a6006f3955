import type * as Schema from "effect/Schema"
import { isJsonArray, isJsonObject } from "../../values/JsonReader.ts"
import { jsonOf, memberOf, nameOf } from "../AttributeValues.ts"
import type { MeaningKind } from "../Meaning.ts"
import type { Attributes } from "../Span.ts"
import { failureOf } from "./Failures.ts"
import { type Family, kindsBy } from "./Family.ts"

const kindOfStep = kindsBy({
  "haystack.pipeline.run": "workflow",
  "haystack.async_pipeline.run": "workflow",
  "haystack.agent.run": "agent",
  "haystack.agent.step": "other",
  "haystack.agent.step.llm": "model",
  "haystack.agent.step.tool": "tool"
})

const kindOfComponent = (type: string): MeaningKind => {
  if (/Generator$/.test(type)) return "model"
  if (/Embedder$/.test(type)) return "model"
  if (/(?:Retriever|Ranker)$/.test(type)) return "retrieval"
  return type === "Agent" ? "agent" : "other"
}

const LLM = "haystack.agent.step.llm"
const TOOL = "haystack.agent.step.tool"

/** Haystack: pipelines of components, and the steps of an agent, whose calls stand in texts of JSON. */
export const haystack: Family = {
  kind: ({ attributes, name }) => {
    const step = kindOfStep(name)
    if (step !== undefined) return step
    const type = attributes["haystack.component.type"]
    if (typeof type !== "string") return undefined
    return { kind: kindOfComponent(type), operation: /Embedder$/.test(type) ? "embeddings" : type }
  },
  agent: ({ attributes }, kind) => (kind === "agent" ? nameOf(attributes["haystack.component.name"]) : undefined),
  toolName: ({ attributes }) => nameOf(attributes["haystack.tool.name"]),
  details: ({ attributes, name }) => {
    if (name === LLM) return callOf(attributes)
    if (name !== TOOL) return undefined
    const { [`${TOOL}.input`]: input, [`${TOOL}.output`]: output } = attributes
    return {
      ...(input !== undefined && { "gen_ai.tool.call.arguments": input }),
      ...(output !== undefined && { "gen_ai.tool.call.result": output })
    }
  },
  failure: ({ attributes }) =>
    attributes["haystack.tool.error"] === true
      ? failureOf(undefined, memberOf(attributes[`${TOOL}.output`], "error"))
      : undefined,
  content: [
    ...[`${LLM}.input`, `${LLM}.output`, `${TOOL}.input`, `${TOOL}.output`],
    ...["haystack.agent.input", "haystack.agent.output", "haystack.agent.tools"],
    ...["haystack.component.input", "haystack.component.output"],
    ...["haystack.pipeline.input_data", "haystack.pipeline.output_data"]
  ]
}

/** A step of a model has one reply, with the name of the model and its usage beside the text. */
const callOf = (attributes: Attributes): Attributes => {
  const messages = memberOf(attributes[`${LLM}.input`], "messages")
  const replies = memberOf(attributes[`${LLM}.output`], "replies")
  const meta = metaOf(replies)
  const { finish_reason: finishReason, model, usage } = meta
  return {
    ...(messages !== undefined && { "gen_ai.input.messages": messages }),
    ...(replies !== undefined && { "gen_ai.output.messages": replies }),
    ...(model !== undefined && { "gen_ai.response.model": model }),
    ...(usage !== undefined && { "gen_ai.usage": usage }),
    ...(finishReason !== undefined && { "gen_ai.response.finish_reasons": finishReason })
  }
}

const metaOf = (replies: Schema.Json | undefined): Attributes => {
  const [reply] = isJsonArray(replies) ? replies : []
  const meta = isJsonObject(reply) ? jsonOf(reply["meta"]) : undefined
  return isJsonObject(meta) ? meta : {}
}
