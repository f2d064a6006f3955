import { isExactNumber, type JsonFault } from "@runplane/domain"
import { EVENT_ID, type Event, getScalarValue, SCALAR_STYLE } from "js-yaml"
import { eventsOf } from "../common/LineOfPath.ts"

/** Every text with a fault matches. The others need no second pass. */
const MAY_HAVE_FAULT = /\d{16}|\d\.?e|__proto__|!!|!<|\\[ux]/i

/**
 * The first number of a YAML text that a double cannot hold, or key `__proto__` (docs/packs.md#exact-numbers);
 * undefined without one. Keys that are given twice are errors of the YAML parser.
 */
export const yamlFault = (text: string): JsonFault | undefined => {
  if (!MAY_HAVE_FAULT.test(text)) return undefined
  /** The collections around an event: the children before it, and the key of the child that it is, or is in. */
  const open: Array<{ readonly type: Event["type"]; children: number; key: string }> = []
  const path = () => open.filter(({ type }) => type !== EVENT_ID.DOCUMENT).map(({ key }) => key)
  for (const event of eventsOf(text)) {
    if (event.type === EVENT_ID.POP) {
      open.pop()
      continue
    }
    const parent = open.at(-1)
    const isKey = parent?.type === EVENT_ID.MAPPING && parent.children % 2 === 0
    if (parent?.type === EVENT_ID.SEQUENCE) parent.key = String(parent.children)
    if (event.type === EVENT_ID.SCALAR) {
      const literal = getScalarValue(text, event)
      if (isKey) parent.key = literal
      const kind =
        isKey && literal === "__proto__" ? "prototype" : isInexact(text, event, literal) ? "number" : undefined
      if (kind !== undefined) return { kind, path: path(), offset: event.valueStart, literal }
    }
    if (parent !== undefined) parent.children++
    if (event.type !== EVENT_ID.SCALAR && event.type !== EVENT_ID.ALIAS) {
      open.push({ type: event.type, children: 0, key: "" })
    }
  }
  return undefined
}

/** A number of the JSON schema of YAML, or one that its author means as such although it is too large. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d*)?(?:e[-+]?\d+)?$/i
const NUMBER_TAG = /^(?:!!|!<tag:yaml\.org,2002:)(?:int|float)>?$/
const OTHER_BASE = /^0[box]/

const isInexact = (text: string, event: Extract<Event, { type: typeof EVENT_ID.SCALAR }>, literal: string): boolean => {
  if (event.tagStart < 0) {
    return event.style === SCALAR_STYLE.PLAIN && NUMBER.test(literal) && !isExactNumber(literal)
  }
  if (!NUMBER_TAG.test(text.slice(event.tagStart, event.tagEnd))) return false
  const unsigned = literal.replace(/^[-+]/, "")
  return OTHER_BASE.test(unsigned) ? !Number.isSafeInteger(Number(unsigned)) : !isExactNumber(unsigned)
}
