import { ControlPlaneApi } from "@runplane/api"
import * as OpenApi from "effect/http-api/OpenApi"

/** A JSON Schema as the OpenAPI document holds it. */
export type DeclaredSchema = Readonly<Record<string, unknown>>

export interface DeclaredEndpoint {
  readonly method: string
  /** With the parameters in braces: `/runs/{id}`. */
  readonly path: string
  readonly query: ReadonlyArray<{ readonly name: string; readonly schema: DeclaredSchema }>
  readonly body: DeclaredSchema | undefined
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> => (isObject(value) ? value : {})
export const itemsOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

const document = fieldsOf(OpenApi.fromApi(ControlPlaneApi))
const components = fieldsOf(fieldsOf(document["components"])["schemas"])

const REFERENCE = "#/components/schemas/"

/** The schema itself where it only names one. */
export const resolved = (schema: unknown): DeclaredSchema => {
  const own = fieldsOf(schema)
  const reference = own["$ref"]
  return typeof reference === "string" ? resolved(components[reference.slice(REFERENCE.length)]) : own
}

const METHODS = ["get", "put", "post", "delete", "patch", "head", "options"]

/** Everything that the API declares, so that what is declared tomorrow is tested tomorrow. */
export const declaredEndpoints: ReadonlyArray<DeclaredEndpoint> = Object.entries(fieldsOf(document["paths"])).flatMap(
  ([path, operations]) =>
    Object.entries(fieldsOf(operations)).flatMap(([method, operation]) => {
      if (!METHODS.includes(method)) return []
      const { parameters, requestBody } = fieldsOf(operation)
      const json = fieldsOf(fieldsOf(fieldsOf(requestBody)["content"])["application/json"])["schema"]
      const query = itemsOf(parameters)
        .map(fieldsOf)
        .filter((parameter) => parameter["in"] === "query")
        .map((parameter) => ({ name: String(parameter["name"]), schema: resolved(parameter["schema"]) }))
      return [{ method: method.toUpperCase(), path, query, body: json === undefined ? undefined : resolved(json) }]
    })
)
