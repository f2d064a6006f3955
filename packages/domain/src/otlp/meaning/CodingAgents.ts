import type * as Schema from "effect/Schema"
import { memberOf, nameOf, numberOf } from "../AttributeValues.ts"
import type { Attributes } from "../Span.ts"
import { failureOf } from "./Failures.ts"
import { type Family, type Kind, kindsBy } from "./Family.ts"

/** `claude_code.api_request`, `codex.sse_event`, `gemini_cli.tool_call`: the emitter, and what happened. */
const EVENT =
  /^[\w-]+\.(api_request|api_response|api_error|sse_event|tool_result|tool_call|tool_decision|user_prompt|conversation_starts|subagent_completed)$/

const kindOfEvent = kindsBy({ tool_result: "tool", tool_call: "tool", user_prompt: "workflow" })
const CALLS = new Set(["api_request", "api_response", "sse_event"])
const CALL: Kind = { kind: "model", operation: "chat" }
const REFUSED = /^(?:reject|deny|denied|abort)/i

/** What a record of a coding agent reports; undefined for other names. */
const eventIn = (name: string): string | undefined => EVENT.exec(name)?.[1]

/** Token counts by their names, which stand beside the name of the model. */
const COUNTS: ReadonlyArray<readonly [usage: string, names: ReadonlyArray<string>]> = [
  ["input_tokens", ["input_tokens", "input_token_count"]],
  ["output_tokens", ["output_tokens", "output_token_count"]],
  ["cache_read_input_tokens", ["cache_read_tokens", "cached_token_count", "cached_content_token_count"]],
  ["cache_creation_input_tokens", ["cache_creation_tokens"]],
  ["reasoning_tokens", ["reasoning_token_count", "thoughts_token_count"]],
  ["total_tokens", ["total_token_count"]]
]

const countsOf = (attributes: Attributes): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const [usage, names] of COUNTS) {
    const tokens = names.map((name) => numberOf(attributes[name])).find((found) => found !== undefined)
    if (tokens !== undefined) counts[usage] = tokens
  }
  return counts
}

/** Anthropic states cached tokens beside the input: the sum of all says so. */
const withTotal = (name: string, counts: Record<string, number>): Record<string, number> =>
  name.startsWith("claude_code.")
    ? { ...counts, total_tokens: Object.values(counts).reduce((sum, tokens) => sum + tokens, 0) }
    : counts

const RENAMED: ReadonlyArray<readonly [ours: string, theirs: string]> = [
  ["gen_ai.request.model", "model"],
  ["gen_ai.tool.name", "mcp_tool_name"],
  ["gen_ai.tool.name", "tool_name"],
  ["gen_ai.tool.name", "function_name"],
  ["gen_ai.tool.call.id", "call_id"],
  ["gen_ai.tool.call.id", "tool_use_id"],
  ["gen_ai.tool.call.arguments", "arguments"],
  ["gen_ai.tool.call.arguments", "function_args"],
  ["gen_ai.tool.call.arguments", "tool_input"],
  ["gen_ai.tool.call.arguments", "tool_parameters"],
  ["gen_ai.tool.call.result", "output"],
  ["output.value", "response_text"],
  ["gen_ai.usage.cost", "cost_usd"],
  ["gen_ai.response.id", "request_id"],
  ["gen_ai.conversation.id", "conversation.id"]
]

/** Log records of coding agents, as spans of their session (docs/reference/ingest.md#sessions-of-log-records). */
export const codingAgents: Family = {
  content: [
    ...["prompt", "request_text", "response_text", "function_args", "tool_input", "tool_parameters"],
    ...["arguments", "output"]
  ],
  kind: ({ attributes, name }): Kind | undefined => {
    const event = eventIn(name)
    if (event === undefined) return undefined
    if (event === "api_error") return CALL
    // A tool that is refused has no result.
    if (event === "tool_decision" && REFUSED.test(String(attributes["decision"])))
      return { kind: "tool", operation: event }
    // Requests and parts of a stream state no tokens: the response does.
    if (CALLS.has(event) && "output_tokens" in countsOf(attributes)) return CALL
    return kindOfEvent(event) ?? { kind: "other", operation: event }
  },
  // The end of a sub-agent is not a call: its records are inside, and the tool that started it is its invocation.
  agent: ({ attributes, name }) => (isSubAgentsEnd(name) ? nameOf(attributes["agent_type"]) : undefined),
  details: ({ attributes, name }) => {
    if (eventIn(name) === undefined) return undefined
    const details: Record<string, Schema.Json> = {}
    // A tool of an MCP server has its name among the parameters.
    const mcpTool = memberOf(attributes["tool_parameters"], "mcp_tool_name")
    const stated = mcpTool === undefined ? attributes : { ...attributes, mcp_tool_name: mcpTool }
    for (const [ours, theirs] of RENAMED) {
      const value = stated[theirs]
      if (value !== undefined && attributes[ours] === undefined) details[ours] ??= value
    }
    const counts = countsOf(attributes)
    return Object.keys(counts).length === 0 ? details : { ...details, "gen_ai.usage": withTotal(name, counts) }
  },
  failure: ({ attributes, name }) => {
    const event = eventIn(name)
    const said = attributes["error"] ?? attributes["error.message"] ?? attributes["error_message"]
    if (event === undefined || (event !== "api_error" && nameOf(said) === undefined)) return undefined
    return failureOf(attributes["error_type"] ?? attributes["error.type"], said)
  }
}

const isSubAgentsEnd = (name: string): boolean => eventIn(name) === "subagent_completed"

/** The parent of each span of such a session: it never comes, and the run does not wait for it. */
export const SESSION_PARENT = "ffffffffffffffff"

/** Where a record is in the tree of its session: ids of sub-agents, undefined of the main agent. */
export interface SubAgents {
  /** The sub-agent that the record ends and names: the others of it are inside. */
  readonly ended: string | undefined
  readonly around: string | undefined
}

/** The sub-agents that a record of a session names by their ids. */
export const subAgentsOf = (name: string, attributes: Attributes): SubAgents => {
  const id = nameOf(attributes["agent_id"])
  if (eventIn(name) === undefined || id === undefined) return { ended: undefined, around: undefined }
  return isSubAgentsEnd(name)
    ? { ended: id, around: nameOf(attributes["parent_agent_id"]) }
    : { ended: undefined, around: id }
}

/** Names of the session of a log record without a span, the first that it states. */
const SESSION_NAMES = [
  ...["runplane.run.key", "macp.session.id", "session.id", "conversation.id", "gen_ai.conversation.id"],
  ...["thread.id"]
]

/** Counts of tokens, beside the model that they are of. */
const COUNT = /(?:^|[._])(?:tokens?|token_count)$/

const isOfAgents = (name: string, attributes: Attributes): boolean =>
  EVENT.test(name) ||
  /^(?:runplane|gen_ai)\./.test(name) ||
  ((attributes["model"] ?? attributes["gen_ai.request.model"]) !== undefined &&
    Object.keys(attributes).some((each) => COUNT.test(each)))

/**
 * The session that a log record of an agent names, itself or on its resource; undefined for other records: those of an
 * application that names the sessions of its users are not runs.
 */
export const sessionOfRecord = (name: string, attributes: Attributes, resource: Attributes): string | undefined => {
  if (!isOfAgents(name, attributes)) return undefined
  for (const each of SESSION_NAMES) {
    const session = nameOf(attributes[each] ?? resource[each])
    if (session !== undefined) return session
  }
  return undefined
}
