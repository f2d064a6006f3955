// The types and the table of operations of an OpenAPI document, as TypeScript for the Promise client.

/** The document as a module: an interface for each schema, one of all operations, and their table. */
export const operationsModule = (document, name) => {
  const schemas = Object.entries(document.components.schemas).map(
    ([key, schema]) => `${docOf(schema)}export type ${key} = ${typeOf(schema, "")}\n`
  )
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation }))
  )
  const shapes = operations.map(({ operation }) => shapeOf(operation, document))
  const table = operations.map(
    ({ method, operation, path }) =>
      `  ${operation.operationId}: [${JSON.stringify(method.toUpperCase())}, ${JSON.stringify(path)}]`
  )
  return [
    `// Generated from the OpenAPI document of ${document.info.title}.`,
    ...schemas,
    `/** What each operation takes and answers. */\nexport interface ${name} {\n${shapes.join("\n")}\n}\n`,
    `export const table = {\n${table.join(",\n")}\n} as const\n`
  ].join("\n")
}

const shapeOf = (operation, document) => {
  const parameters = (operation.parameters ?? []).map((one) => ("$ref" in one ? referred(one.$ref, document) : one))
  const group = (location) => {
    const found = parameters.filter((one) => one.in === location)
    if (found.length === 0) return []
    const optional = found.every((one) => one.required !== true) ? "?" : ""
    const fields = found.map(
      (one) =>
        `${docOf(one, "      ")}      ${keyOf(one.name)}${one.required === true ? "" : "?"}: ${parameterType(one.schema)}`
    )
    return [`    ${location}${optional}: {\n${fields.join("\n")}\n    }`]
  }
  const body = operation.requestBody?.content?.["application/json"]?.schema
  const needed = operation.requestBody?.required === true ? "" : "?"
  const answers = Object.entries(operation.responses)
    .filter(([status]) => status.startsWith("2"))
    .flatMap(([, response]) => Object.entries(response.content ?? {}))
    .map(([type, { schema }]) => {
      if (type === "application/json") return typeOf(schema ?? {}, "    ")
      return type === "application/zip" ? "Uint8Array" : "string"
    })
  const summary = operation.summary === undefined ? "" : `  /** ${clean(operation.summary)} */\n`
  return `${summary}  ${operation.operationId}: {\n${[
    ...group("path"),
    ...group("query"),
    ...(body === undefined ? [] : [`    body${needed}: ${typeOf(body, "    ")}`]),
    `    answer: ${[...new Set(answers)].join(" | ") || "undefined"}`
  ].join("\n")}\n  }`
}

const referred = (ref, document) =>
  ref
    .slice(2)
    .split("/")
    .reduce((at, key) => at[key], document)

/** Numbers and flags are sent as text, so a caller may give either; lists are sent with commas. */
const parameterType = (schema = {}) => {
  const type = typeOf(schema, "")
  return type === "unknown" ? "string" : schema.type === "array" ? "string | ReadonlyArray<string>" : type
}

/** The TypeScript type of a JSON Schema of the documents. */
const typeOf = (schema, indent) => {
  if (schema === true) return "unknown"
  if (schema.$ref !== undefined) return schema.$ref.split("/").at(-1)
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ")
  const several = schema.anyOf ?? schema.oneOf
  if (several !== undefined && schema.type === undefined) {
    return several.map((one) => typeOf(one, indent)).join(" | ")
  }
  if (schema.allOf !== undefined && schema.type === undefined) {
    return schema.allOf.map((one) => `(${typeOf(one, indent)})`).join(" & ")
  }
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type }, indent)).join(" | ")
  switch (schema.type) {
    case "string":
      return "string"
    case "integer":
    case "number":
      return "number"
    case "boolean":
      return "boolean"
    case "null":
      return "null"
    case "array":
      return `ReadonlyArray<${typeOf(schema.items ?? {}, indent)}>`
    case "object":
      return objectType(schema, indent)
    default:
      return "unknown"
  }
}

const objectType = (schema, indent) => {
  const required = new Set(schema.required ?? [])
  const inner = `${indent}  `
  const fields = Object.entries(schema.properties ?? {}).map(
    ([key, value]) =>
      `${docOf(value, inner)}${inner}readonly ${keyOf(key)}${required.has(key) ? "" : "?"}: ${typeOf(value, inner)}`
  )
  const rest = schema.additionalProperties
  const open = typeof rest === "object" && fields.length === 0 ? typeOf(rest, inner) : "unknown"
  if (fields.length === 0) return `{ readonly [key: string]: ${open} }`
  return `{\n${fields.join("\n")}\n${indent}}`
}

const keyOf = (key) => (/^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key))
const clean = (text) => text.replaceAll("*/", "* /").replace(/\s+/g, " ")
const docOf = ({ description }, indent = "") =>
  description === undefined ? "" : `${indent}/** ${clean(description)} */\n`
