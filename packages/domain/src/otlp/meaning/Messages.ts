import type * as Schema from "effect/Schema"
import { isJsonArray, isJsonObject, textAt as textOfObject } from "../../values/JsonReader.ts"
import type { JsonObject } from "../../values/PayloadDecoder.ts"
import { isHidden, jsonAt, jsonOf, spoken } from "../AttributeValues.ts"
import type { Attributes, SpanEvent } from "../Span.ts"

/** Messages of one span that are read from names with an index. */
const MAX_INDEXED = 1_000

/** Input and output of a span, as JSON that keeps the emitter's form. */
export interface SpanTexts {
  readonly instructions?: Schema.Json
  readonly input?: Schema.Json
  readonly output?: Schema.Json
}

/** The texts of a span, or of a log record when its body is given as a message. */
export const textsOf = (attributes: Attributes, events: ReadonlyArray<SpanEvent>): SpanTexts => {
  const said = events.flatMap(({ attributes: said, name }) => messageOf(name, undefined, said) ?? [])
  const instructions = jsonAt(attributes, "instructions")
  const input =
    jsonAt(attributes, "inputMessages") ??
    indexed(attributes, ["gen_ai.prompt.", "llm.input_messages."]) ??
    listed(said.filter(({ isOutput }) => !isOutput)) ??
    requestOf(jsonAt(attributes, "allMessages")) ??
    jsonAt(attributes, "inputValue")
  const output =
    jsonAt(attributes, "outputMessages") ??
    indexed(attributes, ["gen_ai.completion.", "llm.output_messages."]) ??
    listed(said.filter(({ isOutput }) => isOutput)) ??
    jsonAt(attributes, "outputValue")
  return {
    ...(instructions !== undefined && { instructions }),
    ...(input !== undefined && { input }),
    ...(output !== undefined && { output })
  }
}

/** The messages of a conversation up to the last text of the user. */
const requestOf = (messages: Schema.Json | undefined): Schema.Json | undefined => {
  if (!isJsonArray(messages)) return messages
  const last = messages.findLastIndex(
    (message) => isJsonObject(message) && message["role"] === "user" && lastTextOf(message) !== undefined
  )
  return last < 0 ? messages : messages.slice(0, last + 1)
}

/** A message that a span event or a log record has. */
export interface LoggedMessage {
  readonly isOutput: boolean
  readonly message: JsonObject
}

const ROLE = /^gen_ai\.(system|user|assistant|tool)\.message$/

/** The message of an event by its name; undefined for other events. `body` is the body of a log record. */
export const messageOf = (
  name: string,
  body: Schema.Json | undefined,
  attributes: Attributes
): LoggedMessage | undefined => {
  const isOutput = name === "gen_ai.choice"
  const role = isOutput ? "assistant" : ROLE.exec(name)?.[1]
  if (role === undefined) return undefined
  const said = jsonOf(body)
  const message = jsonOf(attributes["message"])
  const plain = said === undefined ? {} : isJsonObject(said) ? said : { content: said }
  const inner = isJsonObject(plain["message"]) ? plain["message"] : plain
  const content = inner["content"] ?? jsonOf(attributes["content"]) ?? message
  return {
    isOutput,
    message: {
      ...(inner === plain && plain["id"] === undefined ? {} : inner),
      ...(inner === plain ? plain : {}),
      role,
      ...(content !== undefined && !(typeof content === "string" && isHidden(content)) && { content })
    }
  }
}

/** The messages that say more than their role. */
const listed = (messages: ReadonlyArray<LoggedMessage>): Schema.Json | undefined => {
  const saying = messages.map(({ message }) => message).filter((message) => Object.keys(message).length > 1)
  return saying.length === 0 ? undefined : saying
}

/** What the last of a list of messages carries: its content, else the arguments or the response of its last part. */
export const contentOf = (messages: Schema.Json | undefined): Schema.Json | undefined => {
  const last = isJsonArray(messages) ? messages.at(-1) : undefined
  if (!isJsonObject(last)) return undefined
  const part = isJsonArray(last["parts"]) ? last["parts"].at(-1) : undefined
  return last["content"] ?? (isJsonObject(part) ? (part["arguments"] ?? part["response"] ?? part["result"]) : undefined)
}

const INDEX = /^(\d{1,4})\.(?:message\.)?(.+)$/

/** Messages whose members have a name each: `gen_ai.prompt.0.content`, `llm.input_messages.0.message.role`. */
const indexed = (attributes: Attributes, prefixes: ReadonlyArray<string>): Schema.Json | undefined => {
  for (const prefix of prefixes) {
    const messages = new Map<number, Record<string, Schema.Json>>()
    for (const [name, value] of Object.entries(attributes)) {
      const [, index, member] = name.startsWith(prefix) ? (INDEX.exec(name.slice(prefix.length)) ?? []) : []
      if (index === undefined || member === undefined || member === "__proto__") continue
      const at = Number(index)
      if (at >= MAX_INDEXED || (typeof value === "string" && isHidden(value))) continue
      messages.set(at, { ...messages.get(at), [member]: value })
    }
    if (messages.size > 0) return [...messages].toSorted(([a], [b]) => a - b).map(([, message]) => message)
  }
  return undefined
}

/** Levels in which a text is searched. */
const MAX_DEPTH = 8

/** Members that lead to the text of an answer, in order. */
const LEADS = [
  ...["raw", "final_output", "answer", "response", "result", "output", "text", "content", "parts", "message"],
  ...["messages", "choices", "generations", "update", "data", "kwargs", "value", "return_values"]
]

/** Parts of a message that are not its text. */
const isOtherPart = ({ role, type }: JsonObject): boolean =>
  (typeof type === "string" && /^(?:tool|function|reasoning|thinking|image|system|human)/.test(type)) || role === "tool"

/**
 * The text that a value of messages says at its end: of a list of messages the last one, of parts all texts. Undefined
 * when it says none.
 */
export const lastTextOf = (value: Schema.Json | undefined): string | undefined => search(jsonOf(value), 0)

const search = (value: Schema.Json | undefined, depth: number): string | undefined => {
  if (depth > MAX_DEPTH) return undefined
  if (typeof value === "string") return spoken(value)
  if (isJsonArray(value)) return inList(value, depth)
  if (!isJsonObject(value) || isOtherPart(value)) return undefined
  for (const lead of LEADS) {
    const found = search(value[lead], depth + 1)
    if (found !== undefined) return found
  }
  return undefined
}

const inList = (list: Schema.JsonArray, depth: number): string | undefined => {
  const texts = list.filter(isTextPart).flatMap((part) => textOfObject(part, "content", "text") ?? [])
  const joined = texts.filter((text) => !isHidden(text)).join("")
  if (joined !== "") return joined
  for (let at = list.length - 1; at >= 0; at--) {
    const found = search(list[at], depth + 1)
    if (found !== undefined) return found
  }
  return undefined
}

const isTextPart = (part: Schema.Json): part is JsonObject =>
  isJsonObject(part) && (part["type"] === "text" || part["type"] === "output_text") && part["role"] === undefined

/** The text of the system instructions: their own attribute, else the first message when it has the role. */
export const instructionsOf = ({ input, instructions }: SpanTexts): string | undefined => {
  if (instructions !== undefined) return lastTextOf(instructions)
  const messages = isJsonObject(input) ? input["messages"] : input
  const first = isJsonArray(messages) ? messages[0] : undefined
  const role = isJsonObject(first) ? (first["role"] ?? first["type"]) : undefined
  if (!isJsonObject(first) || (role !== "system" && role !== "developer")) return undefined
  return search(first["content"] ?? first["parts"] ?? null, 1)
}
