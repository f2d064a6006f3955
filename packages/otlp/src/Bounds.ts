import {
  type Attributes,
  type AttributeValue,
  boundName,
  boundPayload,
  boundProse,
  bytesOfText,
  cleanText
} from "@runplane/domain"

/**
 * Bounds of what is read from one request (docs/reference/ingest.md#limits). What is longer is cut and marked; parts
 * beyond their number are counted.
 */
export interface OtlpLimits {
  /** Spans, or log records, of a request. */
  readonly spans: number
  /** Traces of a request. */
  readonly traces: number
  /** Groups of resources of a request, and groups of scopes. */
  readonly groups: number
  /** Attributes of a span, an event, a link, a resource or a log record; also events and links of a span. */
  readonly attributes: number
  /** Bytes of a value, as JSON. */
  readonly valueBytes: number
  /** Bytes of a value that holds messages, arguments or results, as JSON. */
  readonly contentBytes: number
  /** Bytes of the values of a span or log record together, about; further ones are cut to some hundred bytes each. */
  readonly itemBytes: number
  /** The same of a resource, which each of its spans repeats. */
  readonly resourceBytes: number
  /** Levels of lists and maps inside a value. */
  readonly nesting: number
  /** Fields of the values of a span or log record together. */
  readonly valueFields: number
  /** Parts that are dropped, rejected or unknown: a request with more of them is refused. */
  readonly passed: number
}

export const OTLP_LIMITS: OtlpLimits = {
  spans: 10_000,
  traces: 5_000,
  groups: 10_000,
  attributes: 128,
  valueBytes: 16 * 1_024,
  contentBytes: 256 * 1_024,
  itemBytes: 4 * 1_024 * 1_024,
  resourceBytes: 64 * 1_024,
  nesting: 16,
  valueFields: 262_144,
  passed: 1_000_000
}

const MAX_SPAN_NAME_BYTES = 1_024

/** Names that are held while a request is read, and attributes of one owner that are read at all. */
export const MOST_NAMES = 4_096

/** A text is decoded up to so many bytes: more than any bound of a value in any form of escape. */
export const MOST_TEXT_BYTES = 1_024 * 1_024

/** Values beyond the bytes of their owner are cut to this, and to the second one where even those become many. */
const LEAST_BYTES = 1_024
const LAST_BYTES = 128

/** Fields, and bytes, that are read before the thread can be given back. */
const FIELDS_PER_SLICE = 256
const BYTES_PER_SLICE = 65_536

/** Names of attributes that hold what models, tools and people say. */
const CONTENT =
  /message|prompt|completion|instructions|arguments|\bargs\b|result|input|output|content|\bvalue$|response\.text|documents/

/** A part of a list that is spread over attributes: `llm.input_messages.3.message.content`. */
const SPREAD = /\.\d+\./

export const boundSpanName = (name: string): string => boundProse(name, MAX_SPAN_NAME_BYTES)

/** A name of an attribute within its bound, and the bound of its values. */
export interface BoundedName {
  readonly name: string
  readonly bytes: number
}

/** What is dropped of a request beside its spans: how many of each kind. */
export interface Dropped {
  readonly groups: number
  readonly attributes: number
  readonly events: number
  readonly links: number
  /** Values whose further members are dropped. */
  readonly values: number
}
export type DroppedPart = keyof Dropped

/** A request has more parts that lead to nothing than it may have. */
export class PartsExceeded extends Error {}

/** The bounds of one request, and what it lost to them. */
export class RequestBounds {
  readonly limits: OtlpLimits
  readonly dropped: Record<DroppedPart, number> = { groups: 0, attributes: 0, events: 0, links: 0, values: 0 }
  /** Fields of values that the current item may still have. */
  valueFields = 0
  /** The few names of a request come again in each span. */
  readonly #names = new Map<string, BoundedName>()
  #passed = 0
  #fields = 0
  #at = 0
  #allowance = 0
  #least = 0

  constructor(limits: OtlpLimits) {
    this.limits = limits
  }

  /** Whether the thread can be given back: so much was read since the last time, up to the offset `at`. */
  isDue(at: number): boolean {
    if (++this.#fields < FIELDS_PER_SLICE && Math.abs(at - this.#at) < BYTES_PER_SLICE) return false
    this.#fields = 0
    this.#at = at
    return true
  }

  /** The same after a value of some bytes that is parsed already. */
  isDueAfter(bytes: number): boolean {
    this.#at -= bytes
    return this.isDue(0)
  }

  /** Counts parts that are read and lead to nothing. Throws PartsExceeded. */
  pass(count = 1): void {
    this.#passed += count
    if (this.#passed > this.limits.passed) throw new PartsExceeded()
  }

  /** Counts parts that are dropped. Throws PartsExceeded. */
  drop(what: DroppedPart, count = 1): void {
    this.dropped[what] += count
    this.pass(count)
  }

  /** A resource, a span or a log record begins: its values share a bound of bytes and one of fields. */
  begin(what: "item" | "resource"): void {
    this.#allowance = what === "item" ? this.limits.itemBytes : this.limits.resourceBytes
    this.#least = -this.#allowance / 4
    this.valueFields = this.limits.valueFields
  }

  of(name: string): BoundedName {
    const known = this.#names.get(name)
    if (known !== undefined) return known
    const { contentBytes, valueBytes } = this.limits
    const bounded = { name: boundName(cleanText(name)), bytes: CONTENT.test(name) ? contentBytes : valueBytes }
    if (this.#names.size < MOST_NAMES) this.#names.set(name, bounded)
    return bounded
  }

  /** The bytes that a value may have now. */
  bytesFor({ bytes }: BoundedName): number {
    if (this.#allowance >= bytes) return bytes
    return Math.min(bytes, this.#allowance > this.#least ? Math.max(this.#allowance, LEAST_BYTES) : LAST_BYTES)
  }

  spend(bytes: number): void {
    this.#allowance -= bytes
  }

  /**
   * Keeps at most the bound of attributes. The parts of spread lists go first: a long history of messages must not
   * displace the model, the agent or the usage of the same span.
   */
  within({ values }: ReadAttributes): Attributes {
    if (values.size <= this.limits.attributes) return Object.fromEntries(values)
    this.drop("attributes", values.size - this.limits.attributes)
    const names = [...values.keys()]
    const inOrder = [...names.filter((name) => !SPREAD.test(name)), ...names.filter((name) => SPREAD.test(name))]
    const kept = new Set(inOrder.slice(0, this.limits.attributes))
    return Object.fromEntries([...values].filter(([name]) => kept.has(name)))
  }
}

/** The attributes of one owner so far. */
export class ReadAttributes {
  readonly values = new Map<string, AttributeValue>()
  #read = 0

  /** Whether a further one is read: a generous number of them, of which the bound is kept. */
  mayRead(): boolean {
    return this.#read++ < MOST_NAMES
  }

  /** Adds an attribute. Of two with one name the last counts. */
  add(named: BoundedName, value: AttributeValue, bounds: RequestBounds): void {
    const bounded = boundValue(value, bounds.bytesFor(named))
    bounds.spend(named.name.length + sizeOf(bounded))
    this.values.set(named.name, bounded)
  }
}

/** About the bytes of a value. */
const sizeOf = (value: AttributeValue): number => {
  if (typeof value === "string") return value.length
  return typeof value === "object" && value !== null ? JSON.stringify(value).length : 8
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

/** Bytes of the mark of a text that is not decoded as a whole. */
const MARK_BYTES = 48
/** Bytes of JSON that a code unit takes at most. */
const MOST_ESCAPE = 6

/**
 * The beginning of a text of which the first bytes are decoded, within `bytes` of JSON, with its size as sent: the
 * bound of texts does not cut it again, which would name another size.
 */
export const beginningOf = (decoded: string, sentBytes: number, bytes: number): string => {
  const most = Math.max(0, bytes - MARK_BYTES)
  // Half a character at the end of the first bytes is decoded as U+FFFD.
  const text = cleanText(decoded.slice(0, most).replace(/\uFFFD+$/, ""))
  const kept = bytesOfText(text, most) <= most ? text : text.slice(0, Math.floor(most / MOST_ESCAPE)).toWellFormed()
  return `${kept}… (cut, ${sentBytes} bytes)`
}
