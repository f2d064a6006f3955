import { isExactNumber, type JsonFault, jsonFaultText } from "@runplane/domain"
import * as Result from "effect/Result"
import {
  defineScalarTag,
  EVENT_ID,
  JSON_SCHEMA,
  loadAll,
  mergeTag,
  SCALAR_STYLE,
  type ScalarEvent,
  YAMLException
} from "js-yaml"
import { InvalidPackData } from "../common/LaunchErrors.ts"
import { eventsOf, lineAt, startOf } from "../common/LineOfPath.ts"
import { yamlScalars } from "../common/YamlScalars.ts"

/** Every text with a fault matches. The others need no second pass. */
const MAY_HAVE_FAULT = /\d{16}|\d\.?e|__proto__|!!|!<|\\[ux]/i

/**
 * The first number of a YAML text that a double cannot hold, or key `__proto__`
 * (docs/reference/packs.md#exact-numbers); undefined without one. Keys that are given twice are errors of the YAML
 * parser.
 */
const yamlFault = (text: string): JsonFault | undefined => {
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

/** The argument of an `!include` tag, kept in the parsed tree until `PackFiles` replaces it by the file's content. */
export class IncludeTag {
  readonly argument: string
  constructor(argument: string) {
    this.argument = argument
  }
}

/**
 * Parses one YAML file of a pack: the JSON schema (no timestamps, no yes/no booleans), anchors and aliases, merge keys,
 * plus the `!include` tag. `undefined` means "no document": an empty file, only comments, or only `---`. What would not
 * be read as it is written fails.
 */
export const parseYaml = (text: string, file: string): Result.Result<unknown, InvalidPackData> =>
  Result.try({
    try: () => {
      const documents = loadAll(text, { schema: packSchema })
      if (documents.length > 1) throw new Error("expected a single document, but found more")
      const fault = yamlFault(text)
      if (fault !== undefined) throw new Error(`${jsonFaultText(fault)} (line ${lineAt(text, fault.offset)})`)
      return documents[0] === "" ? undefined : documents[0]
    },
    catch: (cause) => {
      const bare = barePlaceholder(text, cause)
      const reason = bare === undefined ? reasonOf(cause) : sayBare(bare)
      return new InvalidPackData({ file, message: `invalid YAML in ${file}: ${reason}` })
    }
  })

interface BarePlaceholder {
  readonly placeholder: string
  /** From 1. */
  readonly line: number
}

/** Where a value may begin that is not quoted: behind a key, a dash, a bracket or a comma. */
const BARE = /(?:^|[:,[-])\s*(\{\{[^{}"']*\}\})/

/**
 * The placeholder without quotes that a failure is about: to YAML it is a mapping whose key is a mapping. Such keys are
 * found by the parser; behind one that is followed by text the parser itself is lost, in that line.
 */
const barePlaceholder = (text: string, cause: unknown): BarePlaceholder | undefined => {
  const lines = text.split("\n")
  const found = (line: number | undefined): BarePlaceholder | undefined => {
    const placeholder = line === undefined ? undefined : BARE.exec(lines[line - 1] ?? "")?.[1]
    return placeholder === undefined || line === undefined ? undefined : { placeholder, line }
  }
  if (!(cause instanceof YAMLException) || !text.includes("{{")) return undefined
  const lost = found(cause.mark === undefined ? undefined : cause.mark.line + 1)
  return lost ?? found(lineOfMappingAsKey(text))
}

/** The line, from 1, of the first mapping that is the first key of another one. */
const lineOfMappingAsKey = (text: string): number | undefined => {
  const events = eventsOf(text)
  const at = events.findIndex(
    ({ type }, index) => type === EVENT_ID.MAPPING && events[index + 1]?.type === EVENT_ID.MAPPING
  )
  const start = startOf(events[at])
  return start === undefined ? undefined : lineAt(text, start)
}

const sayBare = ({ line, placeholder }: BarePlaceholder) =>
  `a placeholder needs quotes around its text: write "${placeholder}" (line ${line})`

const packSchema = JSON_SCHEMA.withTags(
  mergeTag,
  defineScalarTag("!include", { resolve: (source) => new IncludeTag(source.trim()), identify: () => false })
)

const reasonOf = (cause: unknown): string => {
  if (cause instanceof YAMLException) {
    const reason = cause.reason.startsWith("cannot merge mappings")
      ? "the merge key << takes an alias of a mapping, or a list of such aliases"
      : cause.reason
    return cause.mark === undefined ? reason : `${reason} (line ${cause.mark.line + 1})`
  }
  return cause instanceof Error ? cause.message : String(cause)
}
