import type * as Schema from "effect/Schema"
import type { Attributes } from "../Span.ts"
import { nameOf, numberOf } from "../Values.ts"
import { failureOf } from "./Failures.ts"
import { type Family, type Kind, kindsBy } from "./Family.ts"

/** `claude_code.api_request`, `codex.sse_event`, `gemini_cli.tool_call`: the emitter, and what happened. */
const EVENT = /^(?:claude_code|codex|gemini_cli|qwen-code|opencode|cline|copilot_chat)\.([\w.]+)$/

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
  ["gen_ai.tool.name", "tool_name"],
  ["gen_ai.tool.name", "function_name"],
  ["gen_ai.tool.call.id", "call_id"],
  ["gen_ai.tool.call.id", "tool_use_id"],
  ["gen_ai.tool.call.arguments", "arguments"],
  ["gen_ai.tool.call.arguments", "function_args"],
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
  details: ({ attributes, name }) => {
    if (eventIn(name) === undefined) return undefined
    const details: Record<string, Schema.Json> = {}
    for (const [ours, theirs] of RENAMED) {
      const value = attributes[theirs]
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

/** Names of the session of a log record without a span, the first that it states. */
const SESSION_NAMES = [
  ...["runplane.run.key", "macp.session.id", "session.id", "conversation.id", "gen_ai.conversation.id"],
  ...["thread.id"]
]

/** The session that a log record names, itself or on its resource. */
export const nameOfSession = (attributes: Attributes, resource: Attributes): string | undefined => {
  for (const name of SESSION_NAMES) {
    const session = nameOf(attributes[name] ?? resource[name])
    if (session !== undefined) return session
  }
  return undefined
}
