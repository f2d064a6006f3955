import type * as Schema from "effect/Schema"
import type { Redactor } from "../redaction/Redaction.ts"
import { detailsOf, FAMILIES } from "./meaning/Families.ts"
import { instructionsOf, messageOf, textsOf } from "./meaning/Messages.ts"
import { ATTRIBUTES, CONTENT_NAMES } from "./Names.ts"
import type { Attributes, Telemetry } from "./Span.ts"

/** What happens to texts before anything is stored. */
export interface ReceiverOptions {
  readonly redactor: Redactor
  /** `OTLP_CONTENT`: `drop` removes messages, arguments and results; instructions leave their hash. */
  readonly content: "keep" | "drop"
  /** `OTLP_KEEP_USER`: whether `user.id` stays. */
  readonly keepUser: boolean
  /** SHA-256 of a text, hexadecimal. */
  readonly sha256: (text: string) => string
}

/** A span or log record as it may be stored. The door applies it before the span inbox. */
export const receivedTelemetry = (options: ReceiverOptions, telemetry: Telemetry): Telemetry => {
  const { redactor } = options
  const read = (attributes: Attributes): Attributes => redacted(redactor, kept(options, attributes))
  const common = {
    resource: read(telemetry.resource),
    attributes: { ...read({ ...factsOf(options, telemetry), ...telemetry.attributes }), ...hashOf(options, telemetry) }
  }
  const name = redactor.text(telemetry.name)
  if (telemetry.kind === "log") {
    const { body, ...log } = telemetry
    const keepsBody = body !== undefined && (options.content === "keep" || !hasContent(telemetry.name))
    return { ...log, ...common, name, ...(keepsBody && { body: redactor.payload({ body })["body"] ?? null }) }
  }
  const { statusMessage, ...span } = telemetry
  return {
    ...span,
    ...common,
    name,
    ...(statusMessage !== undefined && { statusMessage: redactor.text(statusMessage) }),
    events: telemetry.events.map((event) => ({
      ...event,
      name: redactor.text(event.name),
      attributes: read(event.attributes)
    })),
    links: telemetry.links.map((link) => ({ ...link, attributes: read(link.attributes) }))
  }
}

const redacted = (redactor: Redactor, attributes: Attributes): Attributes =>
  redactor.enabled ? redactor.payload(attributes) : attributes

const USER_NAMES: ReadonlySet<string> = new Set(ATTRIBUTES.user.names)
const NAMES_OF_CONTENT = [...CONTENT_NAMES, ...FAMILIES.flatMap(({ content = [] }) => content)]
const CONTENT: ReadonlySet<string> = new Set(NAMES_OF_CONTENT)
const CONTENT_PREFIXES = NAMES_OF_CONTENT.filter((name) => name.endsWith("."))
/** Names below a prefix of content that are counts, ids and reasons. */
const NO_CONTENT: ReadonlySet<string> = new Set(
  [ATTRIBUTES.responseId, ATTRIBUTES.finishReasons, ATTRIBUTES.model, ATTRIBUTES.firstChunkMs].flatMap(
    ({ names }): ReadonlyArray<string> => names
  )
)

const kept = ({ content, keepUser }: ReceiverOptions, attributes: Attributes): Attributes => {
  if (keepUser && content === "keep") return attributes
  const result: Record<string, Schema.Json> = {}
  for (const [name, value] of Object.entries(attributes)) {
    if (!keepUser && USER_NAMES.has(name)) continue
    if (content === "drop" && isContent(name, value)) continue
    result[name] = value
  }
  return result
}

const isContent = (name: string, value: Schema.Json): boolean =>
  CONTENT.has(name) ||
  (!NO_CONTENT.has(name) &&
    (CONTENT_PREFIXES.some((prefix) => name.startsWith(prefix)) || (isText(value) && CONTENT_NAME.test(name))))

/** Names of content, of any emitter: `llm.openai.messages`, `acme.agent_run.input`, `tools`. */
const CONTENT_NAME =
  /^llm\.[\w-]+\.(?:system|content)$|(?:^|[._])(?:messages?|choices|tools|functions|inputs?|input_data|outputs?|output_data|prompts?|completions?|instructions|arguments|results?|span(?:Inputs|Outputs))$/

/** Numbers under such a name are counts. */
const isText = (value: Schema.Json): boolean => typeof value === "string" || typeof value === "object"

const hasContent = (name: string): boolean =>
  messageOf(name, undefined, {}) !== undefined || name === "gen_ai.client.inference.operation.details"

/** Model and counts that stand inside of dropped content. */
const factsOf = ({ content }: ReceiverOptions, telemetry: Telemetry): Attributes =>
  content === "keep" || telemetry.kind === "log"
    ? {}
    : detailsOf({ ...telemetry, isRoot: telemetry.parentSpanId === undefined })

/** Versions of the instructions differ in their hash, also where their text is dropped. */
const hashOf = (options: ReceiverOptions, telemetry: Telemetry): Attributes => {
  const { content, sha256 } = options
  if (content === "keep" || telemetry.kind === "log") return {}
  const attributes = { ...factsOf(options, telemetry), ...telemetry.attributes }
  const instructions = instructionsOf(textsOf(attributes, telemetry.events))
  return instructions === undefined ? {} : { "runplane.prompt.hash": sha256(instructions).slice(0, 16) }
}
