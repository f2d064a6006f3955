import type * as Schema from "effect/Schema"
import { memberOf, nameOf, spoken } from "../AttributeValues.ts"
import type { Attributes } from "../Span.ts"
import type { Family } from "./Family.ts"

/** The metadata that LangChain and LangGraph state, which instrumentations put below `metadata` of a name of theirs. */
const metadataAt = (attributes: Attributes, name: string): Schema.Json | undefined => {
  const plain = attributes[`metadata.${name}`] ?? attributes[`traceloop.association.properties.${name}`]
  if (plain !== undefined) return plain
  const ending = `.metadata.${name}`
  const found = Object.keys(attributes).find((each) => each.endsWith(ending))
  if (found !== undefined) return attributes[found]
  const whole = attributes["metadata"] ?? attributes["langfuse.observation.metadata"]
  return typeof whole === "string" && !whole.includes(name) ? undefined : memberOf(whole, name)
}

/** Nodes inside of an agent of LangChain: they name a step and no participant. */
const STEPS: ReadonlySet<string> = new Set(["model", "tools", "tool", "agent", "call_model", "llm", "action"])
const RESERVED = /^__.*__$/

/** The first segment of a checkpoint namespace: `security:uuid|model:uuid` is of `security`. */
const firstSegment = (namespace: string): string | undefined => {
  const [first = ""] = namespace.split("|")
  const name = nameOf(first.split(":")[0])
  if (name === undefined || RESERVED.test(name)) return undefined
  return STEPS.has(name) && !namespace.includes("|") ? undefined : name
}

const KIND_NAME = /\.span\.kind$/
const CHAINS: ReadonlySet<unknown> = new Set(["CHAIN", "chain", "task"])

const graphAgent = (attributes: Attributes): string | undefined => {
  const agent = nameOf(metadataAt(attributes, "lc_agent_name"))
  if (agent !== undefined) return agent
  const namespace =
    spoken(metadataAt(attributes, "langgraph_checkpoint_ns")) ?? spoken(metadataAt(attributes, "checkpoint_ns"))
  return namespace === undefined ? undefined : firstSegment(namespace)
}

/**
 * Graphs of LangGraph. A node's own name says `model` and `tools` inside of an agent, so the agent is `lc_agent_name`,
 * or the first segment of the checkpoint namespace.
 */
export const graph: Family = {
  kind: ({ attributes }) => {
    const isChain = Object.entries(attributes).some(([name, value]) => KIND_NAME.test(name) && CHAINS.has(value))
    return isChain && graphAgent(attributes) !== undefined ? { kind: "step", operation: "CHAIN" } : undefined
  },
  agent: ({ attributes }) => graphAgent(attributes),
  conversation: ({ attributes }) =>
    nameOf(metadataAt(attributes, "session_id")) ?? nameOf(metadataAt(attributes, "thread_id"))
}
