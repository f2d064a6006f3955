import { type Attributes, type AttributeValue, boundName, boundPayload, boundProse, cleanText } from "@runplane/domain"

/** Bounds of what is read from one request (docs/reference/ingest.md#limits). What is longer is cut and marked. */
export interface OtlpLimits {
  /** Spans, or log records, of a request. */
  readonly spans: number
  /** Attributes of a span, an event, a link, a resource or a log record; also events and links of a span. */
  readonly attributes: number
  /** Bytes of a value, as JSON. */
  readonly valueBytes: number
  /** Bytes of a value that holds messages, arguments or results, as JSON. */
  readonly contentBytes: number
  /** Levels of lists and maps inside a value. */
  readonly nesting: number
}

export const OTLP_LIMITS: OtlpLimits = {
  spans: 10_000,
  attributes: 128,
  valueBytes: 16 * 1_024,
  contentBytes: 256 * 1_024,
  nesting: 16
}

const MAX_SPAN_NAME_BYTES = 1_024

/** Names that are held while a request is read. */
const MOST_NAMES = 4_096

/** Names of attributes that hold what models, tools and people say. */
const CONTENT =
  /message|prompt|completion|instructions|arguments|\bargs\b|result|input|output|content|\bvalue$|response\.text|documents/

/** A part of a list that is spread over attributes: `llm.input_messages.3.message.content`. */
const SPREAD = /\.\d+\./

export const boundSpanName = (name: string): string => boundProse(name, MAX_SPAN_NAME_BYTES)

/** A name of an attribute within its bound, and the bound of its values. */
interface BoundedName {
  readonly name: string
  readonly bytes: number
}

/** The bounds of one request. */
export class RequestBounds {
  readonly limits: OtlpLimits
  /** The few names of a request come again in each span. */
  readonly #names = new Map<string, BoundedName>()

  constructor(limits: OtlpLimits) {
    this.limits = limits
  }

  of(name: string): BoundedName {
    const known = this.#names.get(name)
    if (known !== undefined) return known
    const { contentBytes, valueBytes } = this.limits
    const bounded = { name: boundName(cleanText(name)), bytes: CONTENT.test(name) ? contentBytes : valueBytes }
    if (this.#names.size < MOST_NAMES) this.#names.set(name, bounded)
    return bounded
  }

  /**
   * Keeps at most the bound of attributes. The parts of spread lists go first: a long history of messages must not
   * displace the model, the agent or the usage of the same span.
   */
  within(attributes: ReadAttributes): Attributes {
    if (attributes.size <= this.limits.attributes) return Object.fromEntries(attributes)
    const names = [...attributes.keys()]
    const inOrder = [...names.filter((name) => !SPREAD.test(name)), ...names.filter((name) => SPREAD.test(name))]
    const kept = new Set(inOrder.slice(0, this.limits.attributes))
    return Object.fromEntries([...attributes].filter(([name]) => kept.has(name)))
  }
}

/** The attributes of one owner so far. */
export type ReadAttributes = Map<string, AttributeValue>

/** Adds an attribute. Of two with one name the last counts; names beyond a generous number are left out. */
export const addTo = (attributes: ReadAttributes, { bytes, name }: BoundedName, value: AttributeValue): void => {
  if (attributes.size < MOST_NAMES || attributes.has(name)) attributes.set(name, boundValue(value, bytes))
}

/** The value itself when it fits, else its first part with the mark of a cut. */
export const boundValue = (value: AttributeValue, bytes: number): AttributeValue => {
  if (typeof value === "string") return boundProse(value, bytes)
  return typeof value === "object" && value !== null ? boundPayload(value, bytes) : value
}

/** A text that models, tools or people said. */
export const boundContent = (value: AttributeValue, { contentBytes }: OtlpLimits): AttributeValue =>
  boundValue(value, contentBytes)

/** Stands for a value below the deepest level. */
export const TOO_DEEP = "… (cut, nested too deep)"

/** Stands for the members of a list that do not fit. */
export const TOO_MANY = "… (cut)"
