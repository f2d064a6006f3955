import type * as Schema from "effect/Schema"

interface Common {
  readonly title: string
  readonly description: string | undefined
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
      }
    | { readonly kind: "flag" }
    | { readonly kind: "choice"; readonly options: ReadonlyArray<Schema.Json> }
    | { readonly kind: "object"; readonly members: ReadonlyArray<Member> }
    | { readonly kind: "list"; readonly item: FieldSpec }
    | { readonly kind: "json" }
  )

export interface Member {
  readonly name: string
  readonly isRequired: boolean
  readonly spec: FieldSpec
}

/** Deeper schemas are written as JSON. */
const MAX_DEPTH = 6

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const text = (value: unknown) => (typeof value === "string" ? value : undefined)
const number = (value: unknown) => (typeof value === "number" ? value : undefined)

/** `replicationLagSeconds` as `Replication lag seconds`. */
export const titleOf = (name: string): string => {
  const words = name
    .replace(/[_-]+/g, " ")
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .trim()
  return words === "" ? name : `${words[0]?.toUpperCase() ?? ""}${words.slice(1)}`
}

/** Reads a JSON Schema; total: what it does not understand is a field of JSON, so nothing of a schema is lost. */
export const fieldSpec = (schema: unknown, name = "", depth = 0): FieldSpec => {
  const given = isObject(schema) ? schema : {}
  const common = { title: text(given["title"]) ?? titleOf(name), description: text(given["description"]) }
  const options = given["enum"]
  if (Array.isArray(options) && options.length > 0) return { ...common, kind: "choice", options }
  if (depth > MAX_DEPTH || "oneOf" in given || "anyOf" in given || "$ref" in given) return { ...common, kind: "json" }
  switch (given["type"]) {
    case "string":
      return { ...common, kind: "text", maxLength: number(given["maxLength"]), format: text(given["format"]) }
    case "integer":
    case "number":
      return {
        ...common,
        kind: "number",
        isWhole: given["type"] === "integer",
        min: number(given["minimum"]),
        max: number(given["maximum"])
      }
    case "boolean":
      return { ...common, kind: "flag" }
    case "array":
      return { ...common, kind: "list", item: fieldSpec(given["items"], "", depth + 1) }
    case "object": {
      const properties = given["properties"]
      if (!isObject(properties)) return { ...common, kind: "json" }
      const required: ReadonlyArray<unknown> = Array.isArray(given["required"]) ? given["required"] : []
      return {
        ...common,
        kind: "object",
        members: Object.entries(properties).map(([member, inner]) => ({
          name: member,
          isRequired: required.includes(member),
          spec: fieldSpec(inner, member, depth + 1)
        }))
      }
    }
    default:
      return { ...common, kind: "json" }
  }
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
      return []
    case "object":
      return Object.fromEntries(
        spec.members.filter(({ isRequired }) => isRequired).map(({ name, spec: inner }) => [name, blankOf(inner)])
      )
    case "json":
      return null
  }
}

/** What is wrong with an input, by its place (`/standby/region`), in the words of the service. */
export type InputFaults = ReadonlyMap<string, ReadonlyArray<string>>

/** Reads the list that the service sends with refused inputs; a missing member is told at its own place. */
export const inputFaults = (metadata: Schema.JsonObject | undefined): InputFaults => {
  const faults = new Map<string, ReadonlyArray<string>>()
  const errors: unknown = metadata?.["errors"]
  if (!Array.isArray(errors)) return faults
  for (const error of errors) {
    if (!isObject(error)) continue
    const params = isObject(error["params"]) ? error["params"] : {}
    const missing = text(params["missingProperty"])
    const place = `${text(error["instancePath"]) ?? ""}${missing === undefined ? "" : `/${missing}`}`
    const words = missing === undefined ? (text(error["message"]) ?? "is not valid") : "is required"
    faults.set(place, [...(faults.get(place) ?? []), words])
  }
  return faults
}
