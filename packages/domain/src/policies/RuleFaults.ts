import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import type * as SchemaIssue from "effect/SchemaIssue"
import { isJsonObject } from "../values/JsonReader.ts"
import { ANY_MODE } from "./PolicyMode.ts"
import { ruleConditions } from "./RuleConditions.ts"
import { FAULT, PolicyRules, registrationRules, runtimeRules } from "./RuleSchemas.ts"

type Sections = Readonly<Record<string, Schema.ConstraintDecoder<unknown>>>

/** `<proto>.mode.<name>.v<n>` */
const MODE_ID = /^[^.]+\.mode\.([a-z_]+)\.v\d+$/

/**
 * The faults of a policy's rules, one text each: `<path>: <reason>`, where the path is made of the keys down to the
 * value, as in `/voting/quorum`, and `(root)` is the rules object itself. Rules are closed; keys that begin with `_` or
 * `$` are comments. A mode without rules of its own has no faults; under `*` a section must be right
 * for at least one mode that declares it.
 */
export const policyRuleFaults = (mode: string, rules: Schema.JsonObject): ReadonlyArray<string> => {
  if (mode === ANY_MODE) return Object.entries(rules).flatMap(([key, value]) => faultsUnderAnyMode(key, value))
  const name = MODE_ID.exec(mode)?.[1] ?? mode
  const sections = Object.entries(registrationRules).find(([known]) => known === name)?.[1]
  return sections === undefined ? [] : faultsUnder(sections, rules)
}

const faultsUnderAnyMode = (key: string, value: Schema.Json): ReadonlyArray<string> => {
  if (isNote(key)) return []
  const declaring = Object.values(registrationRules).filter((sections) => Object.hasOwn(sections, key))
  if (declaring.length === 0) return [render({ path: [key], reason: UNRECOGNIZED })]
  const [first = [], ...others] = declaring.map((sections) => faultsUnder(sections, { [key]: value }))
  return others.some((faults) => faults.length === 0) ? [] : first
}

const faultsUnder = (sections: Sections, rules: Schema.JsonObject): ReadonlyArray<string> => {
  const broken = ruleConditions.flatMap(({ fault, isBroken, section }) => {
    const written = rules[section]
    const isRequested = fault !== undefined && Object.hasOwn(sections, section) && isJsonObject(written)
    return isRequested && isBroken(written) ? [{ path: [section], reason: fault }] : []
  })
  const texts = inOrder(rules, [...shapeFaults(sections, rules), ...broken]).map(render)
  return [...new Set(texts)]
}

/**
 * The keys of a rules text that the target mode does not have, as dotted paths; a policy for every mode (`*`) may use
 * those of any. A runtime also knows `audit.level`, which has no effect.
 */
export const unknownRuleKeys = (text: string, mode: string): ReadonlyArray<string> => {
  const rules = Option.getOrElse(decodeObject(text), () => ({}))
  const sections = mode === ANY_MODE ? PolicyRules.fields : (sectionsOfMode.get(mode) ?? { commitment })
  const faults = shapeFaults({ audit: Schema.Struct({ level: Schema.Unknown }), ...sections }, rules)
  return inOrder(
    rules,
    faults.filter(({ reason }) => reason === UNRECOGNIZED)
  ).map(({ path }) => path.join("."))
}

const decodeObject = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.JsonObject))

const { commitment } = runtimeRules.task

const sectionsOfMode: ReadonlyMap<string, Sections> = new Map(
  Object.entries(runtimeRules).map(([name, sections]) => [`macp.mode.${name}.v1`, sections])
)

/** Keys that are comments. */
const isNote = (key: string): boolean => key.startsWith("_") || key.startsWith("$")

/** Among weights every key is the id of a participant. */
const withoutNotes = (value: Schema.Json, name = ""): Schema.Json =>
  isJsonObject(value) && name !== "weights"
    ? Object.fromEntries(
        Object.entries(value).flatMap(([key, inner]) => (isNote(key) ? [] : [[key, withoutNotes(inner, key)]]))
      )
    : value

interface Fault {
  readonly path: ReadonlyArray<PropertyKey>
  readonly reason: string
}

const UNRECOGNIZED = "unrecognized key"

const render = ({ path, reason }: Fault): string => {
  const parent = reason === UNRECOGNIZED ? path.slice(0, -1) : path
  const shown = parent.length === 0 ? "(root)" : `/${parent.join("/")}`
  return reason === UNRECOGNIZED ? `${shown}: ${reason} "${String(path.at(-1))}"` : `${shown}: ${reason}`
}

const shapeFaults = (sections: Sections, rules: Schema.JsonObject): ReadonlyArray<Fault> => {
  const members = Object.entries(sections).map(([name, section]) => [name, Schema.optionalKey(section)] as const)
  const decode = Schema.decodeUnknownResult(Schema.Struct(Object.fromEntries(members)))
  const decoded = decode(withoutNotes(rules), { errors: "all", onExcessProperty: "error" })
  return Result.isSuccess(decoded) ? [] : faultsOf(decoded.failure.issue, [])
}

const faultsOf = (issue: SchemaIssue.Issue, path: ReadonlyArray<PropertyKey>): ReadonlyArray<Fault> => {
  switch (issue._tag) {
    case "Pointer":
      return faultsOf(issue.issue, [...path, ...issue.path])
    case "Encoding":
      return faultsOf(issue.issue, path)
    case "Composite":
      return issue.issues.flatMap((inner) => faultsOf(inner, path))
    case "Filter":
      return [faultAt(path, issue.filter.annotations?.[FAULT])]
    case "AnyOf":
      return issue.issues.length === 0
        ? [faultAt(path, reasonOf(issue.ast))]
        : issue.issues.flatMap((inner) => faultsOf(inner, path))
    case "UnexpectedKey":
      return [{ path, reason: UNRECOGNIZED }]
    default:
      return [faultAt(path, "ast" in issue ? reasonOf(issue.ast) : undefined)]
  }
}

/** An item of a list is a fault of the list. */
const faultAt = (path: ReadonlyArray<PropertyKey>, reason: unknown): Fault => ({
  path: path.filter((key) => typeof key === "string"),
  reason: typeof reason === "string" ? reason : "is invalid"
})

/** A rule with a default is read as a union with `undefined`. */
const reasonOf = (ast: SchemaAST.AST | undefined): unknown => {
  if (ast === undefined) return undefined
  const reason = SchemaAST.resolve(ast)?.[FAULT]
  return reason === undefined && SchemaAST.isUnion(ast) ? reasonOf(ast.types[0]) : reason
}

/** In the order of the rules' text; a fault between the members of an object follows those of the members. */
const inOrder = (rules: Schema.JsonObject, faults: ReadonlyArray<Fault>): ReadonlyArray<Fault> =>
  faults
    .map((fault) => ({ fault, position: positionOf(rules, fault.path) }))
    .toSorted((one, other) => comparePositions(one.position, other.position))
    .map(({ fault }) => fault)

const positionOf = (
  value: Schema.Json | undefined,
  [key, ...rest]: ReadonlyArray<PropertyKey>
): ReadonlyArray<number> =>
  typeof key === "string" && isJsonObject(value)
    ? [Object.keys(value).indexOf(key), ...positionOf(value[key], rest)]
    : [Number.POSITIVE_INFINITY]

const comparePositions = (one: ReadonlyArray<number>, other: ReadonlyArray<number>): number => {
  const at = one.findIndex((index, depth) => index !== other[depth])
  return at === -1 ? 0 : (one[at] ?? 0) < (other[at] ?? 0) ? -1 : 1
}
