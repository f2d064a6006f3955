import { readFileSync } from "node:fs"
import type { Answer, SseFrame } from "@runplane/testing"
import { Ajv2020 } from "ajv/dist/2020.js"
import formats from "ajv-formats"

type Json = ReturnType<typeof JSON.parse>

/** The OpenAPI document in the repository, which readers of the API go by. */
export const committedDocument: Json = JSON.parse(
  readFileSync(new URL("../../../api/openapi/control-plane.json", import.meta.url), "utf8")
)

const ajv = new Ajv2020({ strict: false, allErrors: true })
formats.default(ajv)
ajv.addSchema(committedDocument, "document")

const escaped = (key: string) => encodeURIComponent(key.replaceAll("~", "~0").replaceAll("/", "~1"))

interface Location {
  readonly at: string
  readonly value: Json
}

const within = ({ at, value }: Location, ...keys: ReadonlyArray<string>): Location => {
  const inner: Location = {
    at: [at, ...keys.map(escaped)].join("/"),
    value: keys.reduce((part: Json, key) => part?.[key], value)
  }
  const reference: unknown = inner.value?.$ref
  if (typeof reference !== "string") return inner
  return within({ at: "#", value: committedDocument }, ...reference.slice("#/".length).split("/"))
}

const operationLocation = (method: string, path: string) =>
  within({ at: "#", value: committedDocument }, "paths", path, method.toLowerCase())

const faultsAt = (at: string, value: unknown): ReadonlyArray<string> => {
  const reference = `document${at}`
  const validate = ajv.getSchema(reference) ?? ajv.compile({ $ref: reference })
  return validate(value) ? [] : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`)
}

const itemsOf = (contentType: string, text: string): ReadonlyArray<unknown> | undefined =>
  contentType === "application/x-ndjson"
    ? text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]))
    : undefined

/** All that the document says of an answer and the answer is not. */
export const departures = (method: string, path: string, answer: Answer): ReadonlyArray<string> => {
  const operation = operationLocation(method, path)
  if (operation.value === undefined) return ["the operation is not described"]
  const response = within(operation, "responses", String(answer.status))
  if (response.value === undefined) return [`status ${answer.status} is not described: ${answer.text.slice(0, 200)}`]
  const missing = Object.keys(response.value.headers ?? {}).filter(
    (name) => name !== "Retry-After" && !answer.headers.has(name)
  )
  const [contentType = ""] = (answer.headers.get("content-type") ?? "").split(";")
  const media = Object.keys(response.value.content ?? {})
  return [
    ...missing.map((name) => `header ${name} is missing`),
    ...(media.length === 0 ? (answer.text === "" ? [] : ["an empty answer is described"]) : []),
    ...(media.length === 0 ? [] : bodyDepartures(response, media, contentType, answer))
  ]
}

const bodyDepartures = (response: Location, media: ReadonlyArray<string>, contentType: string, answer: Answer) => {
  const described = media.find((type) => type.split(";")[0] === contentType)
  if (described === undefined) return [`content type ${contentType} is not described`]
  const { at, value } = within(response, "content", described, "schema")
  const items = itemsOf(contentType, answer.text)
  return [
    ...faultsAt(at, contentType === "application/json" ? answer.body : answer.text),
    ...(items === undefined || value.contentSchema === undefined ? [] : faultsAt(`${at}/contentSchema`, items))
  ]
}

/** What is wrong with the frames of an event stream. */
export const frameDepartures = (path: string, frames: ReadonlyArray<SseFrame>): ReadonlyArray<string> => {
  const { at } = within(operationLocation("GET", path), "responses", "200", "content", "text/event-stream", "schema")
  const wire = frames.map(({ data, event, id }) => ({ event, ...(id === undefined ? {} : { id }), data }))
  return faultsAt(`${at}/contentSchema`, wire)
}

/** Every operation that still does something, as method and path. */
export const livingOperations: ReadonlyArray<string> = Object.entries<Json>(committedDocument.paths).flatMap(
  ([path, methods]) =>
    Object.entries<Json>(methods).flatMap(([method, { deprecated }]) =>
      deprecated === true ? [] : [`${method.toUpperCase()} ${path}`]
    )
)
