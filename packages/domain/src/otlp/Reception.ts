import type * as Schema from "effect/Schema"
import type { Redactor } from "../Redaction.ts"
import { instructionsOf, messageOf, textsOf } from "./meaning/Messages.ts"
import { ATTRIBUTES, CONTENT_NAMES } from "./Names.ts"
import type { Attributes, Telemetry } from "./Span.ts"

/** What happens to texts before anything is stored. */
export interface ReceptionOptions {
  readonly redactor: Redactor
  /** `OTLP_CONTENT`: `drop` removes messages, arguments and results; instructions leave their hash. */
  readonly content: "keep" | "drop"
  /** `OTLP_KEEP_USER`: whether `user.id` stays. */
  readonly keepUser: boolean
  /** SHA-256 of a text, hexadecimal. */
  readonly sha256: (text: string) => string
}

/** A span or log record as it may be stored. The door applies it before the inbox. */
export const receivedTelemetry = (options: ReceptionOptions, telemetry: Telemetry): Telemetry => {
  const { redactor } = options
  const read = (attributes: Attributes): Attributes => redacted(redactor, kept(options, attributes))
  const common = {
    resource: read(telemetry.resource),
    attributes: { ...read(telemetry.attributes), ...hashOf(options, telemetry) }
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
const CONTENT: ReadonlySet<string> = new Set(CONTENT_NAMES)
const CONTENT_PREFIXES = CONTENT_NAMES.filter((name) => name.endsWith("."))
/** Names below a prefix of content that are counts, ids and reasons. */
const NO_CONTENT: ReadonlySet<string> = new Set(
  [ATTRIBUTES.responseId, ATTRIBUTES.finishReasons, ATTRIBUTES.model, ATTRIBUTES.firstChunkMs].flatMap(
    ({ names }): ReadonlyArray<string> => names
  )
)

const kept = ({ content, keepUser }: ReceptionOptions, attributes: Attributes): Attributes => {
  if (keepUser && content === "keep") return attributes
  const result: Record<string, Schema.Json> = {}
  for (const [name, value] of Object.entries(attributes)) {
    if (!keepUser && USER_NAMES.has(name)) continue
    if (content === "drop" && isContent(name)) continue
    result[name] = value
  }
  return result
}

const isContent = (name: string): boolean =>
  CONTENT.has(name) || (!NO_CONTENT.has(name) && CONTENT_PREFIXES.some((prefix) => name.startsWith(prefix)))

const hasContent = (name: string): boolean =>
  messageOf(name, undefined, {}) !== undefined || name === "gen_ai.client.inference.operation.details"

/** Versions of the instructions differ in their hash, also where their text is dropped. */
const hashOf = ({ content, sha256 }: ReceptionOptions, telemetry: Telemetry): Attributes => {
  if (content === "keep" || telemetry.kind === "log") return {}
  const instructions = instructionsOf(textsOf(telemetry.attributes, telemetry.events))
  return instructions === undefined ? {} : { "runplane.prompt.hash": sha256(instructions).slice(0, 16) }
}
