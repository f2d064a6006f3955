// A TypeScript program that calls every operation of the OpenAPI documents through @runplane/client, with only what is
// required. It is compiled, never run. A call without its required parts must not compile either.
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "./support.mjs"

/** The document of each client, and the client's function. */
const CLIENTS = { "control-plane": "createControlPlane", launcher: "createLauncher" }

/** The program, and how many operations it calls. */
export const everyCall = () => {
  const parts = Object.entries(CLIENTS).map(([document, create]) => {
    const api = JSON.parse(readFileSync(join(root, "packages/api/openapi", `${document}.json`), "utf8"))
    const operations = Object.values(api.paths).flatMap((methods) => Object.values(methods))
    const calls = operations.flatMap((operation) => callsOf(operation, api))
    const text = `{\n  const { call } = ${create}({ baseUrl: "http://127.0.0.1:1" })\n${calls.join("\n")}\n}\n`
    return { count: operations.length, text }
  })
  const imports = `import { ${Object.values(CLIENTS).join(", ")} } from "@runplane/client"\n\n`
  return {
    text: imports + parts.map(({ text }) => text).join(""),
    count: parts.reduce((sum, { count }) => sum + count, 0)
  }
}

const callsOf = (operation, api) => {
  const path = (operation.parameters ?? []).filter((one) => one.in === "path")
  const query = (operation.parameters ?? []).filter((one) => one.in === "query" && one.required === true)
  const body = operation.requestBody?.required === true ? operation.requestBody.content["application/json"] : undefined
  const parts = [
    ...(path.length === 0 ? [] : [`path: ${fieldsOf(path, api)}`]),
    ...(query.length === 0 ? [] : [`query: ${fieldsOf(query, api)}`]),
    ...(body === undefined ? [] : [`body: ${JSON.stringify(smallest(body.schema, api))}`])
  ]
  const name = JSON.stringify(operation.operationId)
  if (parts.length === 0) return [`  await call(${name})`, `  await call(${name}, {})`]
  return [
    `  await call(${name}, { ${parts.join(", ")} })`,
    `  // @ts-expect-error: ${parts.map((part) => part.split(":")[0]).join(" and ")} required`,
    `  await call(${name})`
  ]
}

const fieldsOf = (parameters, api) =>
  JSON.stringify(Object.fromEntries(parameters.map(({ name, schema }) => [name, smallest(schema, api)])))

/** A value of the schema's type without its optional parts. It need not obey patterns and bounds. */
const smallest = (schema, api) => {
  if (schema.$ref !== undefined) return smallest(api.components.schemas[schema.$ref.split("/").at(-1)], api)
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return schema.enum[0]
  const [first] = schema.anyOf ?? schema.oneOf ?? []
  if (first !== undefined && schema.type === undefined) return smallest(first, api)
  if (schema.allOf !== undefined && schema.type === undefined) {
    return Object.assign({}, ...schema.allOf.map((one) => smallest(one, api)))
  }
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case "object":
      return Object.fromEntries(
        (schema.required ?? []).map((key) => [key, smallest(schema.properties?.[key] ?? {}, api)])
      )
    case "array":
      return []
    case "integer":
    case "number":
      return 0
    case "boolean":
      return false
    case "null":
      return null
    default:
      return ""
  }
}
