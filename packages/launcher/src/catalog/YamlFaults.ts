import { isExactNumber, type JsonFault } from "@runplane/domain"
import { SCALAR_STYLE, type ScalarEvent } from "js-yaml"
import { yamlScalars } from "../common/YamlScalars.ts"

/** Every text with a fault matches. The others need no second pass. */
const MAY_HAVE_FAULT = /\d{16}|\d\.?e|__proto__|!!|!<|\\[ux]/i

/**
 * The first number of a YAML text that a double cannot hold, or key `__proto__`
 * (docs/reference/packs.md#exact-numbers); undefined without one. Keys that are given twice are errors of the YAML
 * parser.
 */
export const yamlFault = (text: string): JsonFault | undefined => {
  if (!MAY_HAVE_FAULT.test(text)) return undefined
  for (const { event, isKey, path, value } of yamlScalars(text)) {
    const kind = isKey && value === "__proto__" ? "prototype" : isInexact(text, event, value) ? "number" : undefined
    if (kind !== undefined) return { kind, path: path(), offset: event.valueStart, literal: value }
  }
  return undefined
}

/** A number of the JSON schema of YAML, or one that its author means as such although it is too large. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d*)?(?:e[-+]?\d+)?$/i
const NUMBER_TAG = /^(?:!!|!<tag:yaml\.org,2002:)(?:int|float)>?$/
const OTHER_BASE = /^0[box]/

const isInexact = (text: string, event: ScalarEvent, literal: string): boolean => {
  if (event.tagStart < 0) {
    return event.style === SCALAR_STYLE.PLAIN && NUMBER.test(literal) && !isExactNumber(literal)
  }
  if (!NUMBER_TAG.test(text.slice(event.tagStart, event.tagEnd))) return false
  const unsigned = literal.replace(/^[-+]/, "")
  return OTHER_BASE.test(unsigned) ? !Number.isSafeInteger(Number(unsigned)) : !isExactNumber(unsigned)
}
