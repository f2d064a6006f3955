import { isJsonObject } from "@runplane/domain"
import type * as Schema from "effect/Schema"
import { cut, NAME_LENGTH } from "../format/Format.ts"

interface Common {
  readonly title: string
  readonly description: string | undefined
  /** The constraints of the value, in words: "1 to 100", "at least 3 characters". */
  readonly constraints: ReadonlyArray<string>
  readonly example: string | undefined
}

/** A field of a form, as a JSON Schema describes it. `json` is what no other kind fits: it is written as JSON. */
export type FieldSpec = Common &
  (
    | { readonly kind: "text"; readonly maxLength: number | undefined; readonly format: string | undefined }
    | {
        readonly kind: "number"
        readonly isWhole: boolean
        readonly min: number | undefined
        readonly max: number | undefined
        readonly step: number | undefined
      }
    | { readonly kind: "flag" }
    | { readonly kind: "choice"; readonly options: ReadonlyArray<Schema.Json> }
    | { readonly kind: "object"; readonly members: ReadonlyArray<Member> }
    | {
        readonly kind: "list"
        readonly item: FieldSpec
        readonly minItems: number
        readonly maxItems: number | undefined
      }
    /** One of several forms. */
    | { readonly kind: "either"; readonly branches: ReadonlyArray<FieldSpec> }
    | { readonly kind: "json" }
  )

export interface Member {
  readonly name: string
  readonly isRequired: boolean
  readonly spec: FieldSpec
}

/** Characters of a description that a form shows. */
const MOST_ABOUT = 2_000

const shortened = (about: string | undefined) => (about === undefined ? undefined : cut(about, MOST_ABOUT))

/** Deeper schemas, also recursive ones, are edited as JSON. */
const MAX_DEPTH = 6

type Given = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Given =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const text = (value: unknown) => (typeof value === "string" ? value : undefined)
const number = (value: unknown) => (typeof value === "number" ? value : undefined)
const list = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

/** `replicationLagSeconds` as `Replication lag seconds`. */
export const titleOf = (name: string): string => {
  const words = name
    .replace(/[_-]+/g, " ")
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .trim()
  return words === "" ? name : `${words[0]?.toUpperCase() ?? ""}${words.slice(1)}`
}

/** What a reference of the schema itself leads to (`#/$defs/days`). */
const target = (root: Given, ref: string): Given | undefined => {
  if (!ref.startsWith("#")) return undefined
  let found: unknown = root
  for (const part of ref.slice(1).split("/").slice(1)) {
    if (!isObject(found)) return undefined
    found = found[decodePart(part)]
  }
  return isObject(found) ? found : undefined
}

const decodePart = (part: string): string => {
  try {
    return decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~")
  } catch {
    return part
  }
}

/** The schema with its references and the parts of `allOf` put in; undefined where a reference leads nowhere. */
const resolved = (schema: Given, root: Given, hops = 0): Given | undefined => {
  const { $ref: ref, allOf, ...own } = schema
  if (hops > MAX_DEPTH) return undefined
  let merged: Given = own
  if (typeof ref === "string") {
    const found = target(root, ref)
    const inner = found === undefined ? undefined : resolved(found, root, hops + 1)
    if (inner === undefined) return undefined
    merged = { ...inner, ...own }
  }
  for (const part of list(allOf)) {
    const inner = isObject(part) ? resolved(part, root, hops + 1) : undefined
    if (inner === undefined) return undefined
    merged = {
      ...inner,
      ...merged,
      ...(isObject(inner["properties"]) && {
        properties: together(merged["properties"], inner["properties"])
      }),
      required: [...list(merged["required"]), ...list(inner["required"])]
    }
  }
  return merged
}

/** The members of both, those that are there already first; where both have one, it stays. */
const together = (there: unknown, more: Given): Given => {
  const before = isObject(there) ? there : {}
  return { ...before, ...more, ...before }
}

/** Reads a JSON Schema; total: what it does not understand is a field of JSON, so nothing of a schema is lost. */
export const fieldSpec = (schema: unknown): FieldSpec => {
  const root = isObject(schema) ? schema : {}
  return specOf(root, root, "", 0)
}

const specOf = (schema: unknown, root: Given, name: string, depth: number): FieldSpec => {
  const given = isObject(schema) ? resolved(schema, root) : {}
  const [example] = list(given?.["examples"])
  const common = {
    title: cut(text(given?.["title"]) ?? titleOf(name), NAME_LENGTH),
    description: shortened(text(given?.["description"])),
    constraints: given === undefined ? [] : constraintsOf(given),
    example: example === undefined ? undefined : typeof example === "string" ? example : JSON.stringify(example)
  }
  const json = { ...common, kind: "json" } as const
  if (given === undefined || depth > MAX_DEPTH) return json
  const options = "const" in given ? [given["const"]] : given["enum"]
  if (Array.isArray(options) && options.length > 0) return { ...common, kind: "choice", options }
  const branches = branchesOf(given)
  if (branches.length > 0) {
    const specs = branches.map((branch, at) => {
      const spec = specOf(branch, root, name, depth + 1)
      return isObject(branch) && text(branch["title"]) !== undefined ? spec : { ...spec, title: kindTitle(spec, at) }
    })
    return { ...common, kind: "either", branches: specs }
  }
  const type = Array.isArray(given["type"]) ? given["type"].find((one) => one !== "null") : given["type"]
  switch (type ?? (isObject(given["properties"]) ? "object" : undefined)) {
    case "string":
      return { ...common, kind: "text", maxLength: number(given["maxLength"]), format: text(given["format"]) }
    case "integer":
    case "number":
      return {
        ...common,
        kind: "number",
        isWhole: type === "integer",
        min: number(given["minimum"]) ?? number(given["exclusiveMinimum"]),
        max: number(given["maximum"]) ?? number(given["exclusiveMaximum"]),
        step: number(given["multipleOf"])
      }
    case "boolean":
      return { ...common, kind: "flag" }
    case "array":
      // A tuple has a schema for each index: no form fits.
      if ("prefixItems" in given || Array.isArray(given["items"])) return json
      return {
        ...common,
        kind: "list",
        item: specOf(given["items"], root, "", depth + 1),
        minItems: number(given["minItems"]) ?? 0,
        maxItems: number(given["maxItems"])
      }
    case "object": {
      const properties = given["properties"]
      // Members of any name are written as JSON.
      if (!isObject(properties) || isObject(given["additionalProperties"]) || "patternProperties" in given) return json
      const required = list(given["required"])
      return {
        ...common,
        kind: "object",
        members: Object.entries(properties).map(([member, inner]) => ({
          name: member,
          isRequired: required.includes(member),
          spec: specOf(inner, root, member, depth + 1)
        }))
      }
    }
    default:
      return json
  }
}

/** The forms that a value may have; none when there is only one. */
const branchesOf = (given: Given): ReadonlyArray<unknown> => {
  const { anyOf, oneOf, type, ...rest } = given
  const either = list(oneOf ?? anyOf)
  if (either.length > 0) {
    const shared = type === undefined ? rest : { ...rest, type }
    const { description: _, title: __, default: ___, examples: ____, ...inherited } = shared
    return either.map((branch) => (isObject(branch) ? merge(inherited, branch) : branch))
  }
  const types = list(type).filter((one) => one !== "null")
  return types.length > 1 ? types.map((one) => ({ ...rest, type: one, title: undefined })) : []
}

/** A branch of a choice, merged with the members beside the choice. */
const merge = (shared: Given, branch: Given): Given => ({
  ...shared,
  ...branch,
  ...(isObject(shared["properties"]) && {
    properties: { ...shared["properties"], ...(isObject(branch["properties"]) ? branch["properties"] : {}) },
    required: [...list(shared["required"]), ...list(branch["required"])]
  })
})

const kindTitle = (spec: FieldSpec, at: number): string => {
  switch (spec.kind) {
    case "object":
      return spec.members.length === 0 ? `Form ${at + 1}` : spec.members.map(({ spec: { title } }) => title).join(", ")
    case "choice":
      return spec.options.map((option) => JSON.stringify(option)).join(" or ")
    case "flag":
      return "Yes or no"
    default:
      return titleOf(spec.kind)
  }
}

/** The constraints of a schema beyond its kind, in words. */
const constraintsOf = (given: Given): ReadonlyArray<string> => {
  const of = (name: string) => number(given[name])
  const range = (from: number | undefined, to: number | undefined, one = "") => {
    const said = (value: number) =>
      `${value.toLocaleString("en-US")}${one === "" ? "" : ` ${one}${value === 1 ? "" : "s"}`}`
    if (from !== undefined && to !== undefined) {
      return from === to ? `exactly ${said(from)}` : `${from.toLocaleString("en-US")} to ${said(to)}`
    }
    if (from !== undefined) return `at least ${said(from)}`
    return to === undefined ? undefined : `at most ${said(to)}`
  }
  const format = text(given["format"])
  const pattern = text(given["pattern"])
  return [
    range(of("minimum"), of("maximum")),
    of("exclusiveMinimum") === undefined ? undefined : `more than ${of("exclusiveMinimum")}`,
    of("exclusiveMaximum") === undefined ? undefined : `less than ${of("exclusiveMaximum")}`,
    of("multipleOf") === undefined ? undefined : `a multiple of ${of("multipleOf")}`,
    range(of("minLength"), of("maxLength"), "character"),
    range(of("minItems"), of("maxItems"), "item"),
    given["uniqueItems"] === true ? "each item once" : undefined,
    format === undefined ? undefined : (FORMATS[format] ?? `in the form ${format}`),
    pattern === undefined ? undefined : patternWords(given)
  ].filter((ask) => ask !== undefined)
}

/** A pattern in words: readers do not know regular expressions. The description of the pack says the rest. */
const patternWords = (given: Given): string | undefined => {
  const examples = [...list(given["examples"]), given["default"]].filter((example) => typeof example === "string")
  if (examples.length > 0) return `such as ${examples.slice(0, 3).join(" or ")}`
  return text(given["description"]) === undefined ? "in the form that the scenario expects" : undefined
}

const FORMATS: Readonly<Record<string, string>> = {
  "date-time": "a time such as 2026-07-01T10:00:00Z",
  date: "a day such as 2026-07-01",
  email: "an e-mail address",
  uri: "an address such as https://example.com",
  uuid: "a UUID"
}

/** What a new field of the kind begins with. */
export const blankOf = (spec: FieldSpec): Schema.Json => {
  switch (spec.kind) {
    case "text":
      return ""
    case "number":
      return spec.min ?? 0
    case "flag":
      return false
    case "choice":
      return spec.options[0] ?? null
    case "list":
      return Array.from({ length: Math.min(spec.minItems, 20) }, () => blankOf(spec.item))
    case "object":
      return Object.fromEntries(
        spec.members.filter(({ isRequired }) => isRequired).map(({ name, spec: inner }) => [name, blankOf(inner)])
      )
    case "either":
      return spec.branches[0] === undefined ? null : blankOf(spec.branches[0])
    case "json":
      return null
  }
}

/** Whether a value has the form of a field; bounds are the service's business. */
export const fits = (spec: FieldSpec, value: Schema.Json | undefined): boolean => {
  switch (spec.kind) {
    case "text":
      return typeof value === "string"
    case "number":
      return typeof value === "number" && (!spec.isWhole || Number.isInteger(value))
    case "flag":
      return typeof value === "boolean"
    case "choice":
      return spec.options.some((option) => JSON.stringify(option) === JSON.stringify(value))
    case "list":
      return Array.isArray(value)
    case "object":
      return (
        isJsonObject(value) &&
        spec.members.every(({ isRequired, name, spec: inner }) =>
          name in value ? fits(inner, value[name]) : !isRequired
        )
      )
    case "either":
      return spec.branches.some((branch) => fits(branch, value))
    case "json":
      return value !== undefined
  }
}

/** The service's faults of an input by JSON pointer (`/standby/region`). */
export type InputFaults = ReadonlyMap<string, ReadonlyArray<string>>

/** Reads the faults of refused inputs; the fault of a missing member has the member's pointer. */
export const inputFaults = (metadata: Schema.JsonObject | undefined): InputFaults => {
  const faults = new Map<string, ReadonlyArray<string>>()
  const errors: unknown = metadata?.["errors"]
  if (!Array.isArray(errors)) return faults
  for (const error of errors) {
    if (!isObject(error)) continue
    const params = isObject(error["params"]) ? error["params"] : {}
    const missing = text(params["missingProperty"])
    const pointer = `${text(error["instancePath"]) ?? ""}${missing === undefined ? "" : `/${missing}`}`
    const words =
      missing !== undefined
        ? "is required"
        : params["pattern"] !== undefined
          ? "does not have the form that the scenario expects"
          : (text(error["message"]) ?? "is not valid")
    faults.set(pointer, [...(faults.get(pointer) ?? []), words])
  }
  return faults
}
