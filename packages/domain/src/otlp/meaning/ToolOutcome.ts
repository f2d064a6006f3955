import type * as Schema from "effect/Schema"
import { isJsonObject } from "../../values/JsonReader.ts"
import { nameOf } from "../AttributeValues.ts"
import type { Failure } from "../Meaning.ts"
import type { Attributes } from "../Span.ts"
import { failureOf } from "./Failures.ts"

/** How a tool call ended, where its emitter says so beside the status of the span. */
export interface ToolOutcome {
  readonly failure: Failure
  /** Whether a person or a permission refused it: the tool did not run. */
  readonly isRefused: boolean
}

/** `tool.status`, `acme.tool.call.outcome`, `success`: the last part of a name says what a value means. */
const STATES = /(?:^|[._])(?:status|state|level|outcome|decision|decision_type|approval|permission)$/
const SUCCESS = /(?:^|[._])(?:success|succeeded|ok|approved|allowed)$/
const FAULT = /(?:^|[._])(?:is_?error|failed|error)$/i
const REASON = /(?:^|[._])(?:status_message|status_text|error_message|error|reason|denial_reason)$/

const FAILED = /^(?:error|err|errored|fail|failed|failure|fatal|exception|time_?out|timed_out)$/i
const REFUSED =
  /^(?:refused?|reject(?:ed)?|den(?:y|ied)|declined?|disallowed|disapproved|not_approved|user_(?:reject|abort))$/i
const PERMISSION = /(?:^|[._])(?:approved|allowed)$/

/** The outcome that the attributes of a tool's span state; undefined when it did not fail. */
export const toolOutcome = (attributes: Attributes, result: Schema.Json | undefined): ToolOutcome | undefined => {
  let isRefused = false
  let isFailed = nameOf(attributes["error.type"]) !== undefined || saysError(result)
  for (const [name, value] of Object.entries(attributes)) {
    const said = typeof value === "string" ? value.trim() : value
    if (STATES.test(name) && typeof said === "string") {
      isRefused ||= REFUSED.test(said)
      isFailed ||= FAILED.test(said)
    } else if (SUCCESS.test(name) && isFalse(said)) {
      if (PERMISSION.test(name)) isRefused = true
      else isFailed = true
    } else if (FAULT.test(name) && isTrue(said)) isFailed = true
  }
  if (!isRefused && !isFailed) return undefined
  return { failure: failureOf(isRefused ? "ToolRefused" : attributes["error.type"], reasonIn(attributes)), isRefused }
}

/** The result of a tool of MCP says so in it. */
const saysError = (result: Schema.Json | undefined): boolean =>
  isJsonObject(result) && (result["isError"] === true || result["is_error"] === true)

const isFalse = (value: Schema.Json | undefined): boolean => value === false || value === "false" || value === "False"
const isTrue = (value: Schema.Json | undefined): boolean => value === true || value === "true" || value === "True"

const reasonIn = (attributes: Attributes): string | undefined => {
  for (const [name, value] of Object.entries(attributes)) {
    const text = REASON.test(name) && !isTrue(value) ? nameOf(value) : undefined
    if (text !== undefined) return text
  }
  return undefined
}
