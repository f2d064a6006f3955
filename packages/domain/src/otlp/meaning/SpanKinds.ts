import type * as Schema from "effect/Schema"
import { isJsonObject } from "../../values/JsonReader.ts"
import { jsonOf, nameAt, nameOf } from "../AttributeValues.ts"
import type { Attributes } from "../Span.ts"
import { type Family, type Kind, kindsBy } from "./Family.ts"

/** `langsmith.span.kind`, `mlflow.spanType`, `acme.span_type`: the prefix is the emitter. */
const KIND_NAME = /^(?!openinference\.|traceloop\.|mastra\.|langfuse\.)([\w-]+)\.(?:span\.kind|span\.type|span_?type)$/i

const kindOfType = kindsBy({
  llm: "model",
  chat_model: "model",
  chat: "model",
  completion: "model",
  generation: "model",
  model: "model",
  embedding: "model",
  embeddings: "model",
  agent: "agent",
  tool: "tool",
  function: "tool",
  retriever: "retrieval",
  retrieval: "retrieval",
  reranker: "retrieval",
  guardrail: "guardrail",
  evaluator: "evaluation",
  workflow: "workflow",
  chain: "other",
  task: "other",
  parser: "other",
  prompt: "other",
  memory: "other",
  span: "other",
  unknown: "other"
})

interface Stated {
  readonly prefix: string
  readonly type: string
}

/** Emitter and kind of a span; undefined for spans of other families. */
const statedIn = (attributes: Attributes): Stated | undefined => {
  for (const [name, value] of Object.entries(attributes)) {
    const prefix = KIND_NAME.exec(name)?.[1]
    const type = prefix === undefined ? undefined : nameOf(plain(value))
    if (prefix !== undefined && type !== undefined) return { prefix, type: type.toLowerCase() }
  }
  return undefined
}

/** Some emitters write each value as JSON, also a text: `"CHAT_MODEL"` with its quotes. */
const plain = (value: Schema.Json | undefined): Schema.Json | undefined => jsonOf(value) ?? value

/** Families that name the kind of a span after themselves, such as LangSmith and MLflow. */
export const spanKinds: Family = {
  kind: ({ attributes, isRoot }): Kind | undefined => {
    const stated = statedIn(attributes)
    const found = kindOfType(stated?.type)
    if (found === undefined) return undefined
    if (found.operation === "embedding") return { kind: "model", operation: "embeddings" }
    return found.operation === "chain" && isRoot ? { kind: "workflow", operation: "chain" } : found
  },
  agent: ({ attributes }, kind) =>
    kind === "agent" && statedIn(attributes) !== undefined ? nameAt(attributes, "agent") : undefined,
  toolName: ({ attributes, name }) => (statedIn(attributes)?.type === "tool" ? nameOf(name) : undefined),
  // A parameter of the request, and the parts of a streamed answer in events.
  content: ["prediction", "mlflow.chunk.value"],
  details: ({ attributes }) => {
    const stated = statedIn(attributes)
    return stated === undefined ? undefined : detailsOf(attributes, stated)
  }
}

const MODEL = /^(?:ls_)?model(?:_name)?$/
const PROVIDER = /^(?:ls_)?provider$/
const INPUT = /^(?:span)?inputs?$/i
const OUTPUT = /^(?:span)?outputs?$/i

/** Model, texts and answer under names of the emitter, by the last part of each. */
const detailsOf = (attributes: Attributes, { prefix, type }: Stated): Attributes => {
  const details: Record<string, Schema.Json> = {}
  const isCall = kindOfType(type)?.kind === "model"
  for (const [name, value] of Object.entries(attributes)) {
    if (!name.startsWith(`${prefix}.`)) continue
    const last = name.slice(name.lastIndexOf(".") + 1)
    const said = plain(value)
    if (said === undefined) continue
    if (MODEL.test(last)) details["gen_ai.request.model"] ??= said
    else if (PROVIDER.test(last)) details["gen_ai.provider.name"] ??= said
    else if (INPUT.test(last)) Object.assign(details, { "input.value": said }, isCall ? requestOf(said) : {})
    else if (OUTPUT.test(last)) Object.assign(details, { "output.value": said }, isCall ? answerOf(said) : {})
  }
  // Until a model answers, its name is known from the parameters of the request alone.
  const requested = isCall ? plain(attributes["model"]) : undefined
  if (requested !== undefined) details["gen_ai.request.model"] ??= requested
  return details
}

/** The request of a model as its API takes it: the instructions may stand beside the messages. */
const requestOf = (input: Schema.Json): Attributes => {
  const instructions = isJsonObject(input) ? input["instructions"] : undefined
  return typeof instructions === "string" ? { "gen_ai.system_instructions": instructions } : {}
}

/** The answer of a model as its API gives it: the name of the model, the id and the usage stand in it. */
const answerOf = (output: Schema.Json): Attributes => {
  if (!isJsonObject(output)) return {}
  const { id, model, usage } = output
  return {
    ...(model !== undefined && { "gen_ai.response.model": model }),
    ...(id !== undefined && { "gen_ai.response.id": id }),
    ...(usage !== undefined && { "gen_ai.usage": usage })
  }
}
