// Writes the typed client in Python of each OpenAPI document into a folder: a type for each schema, and a method for
// each operation.
//
//   node scripts/client.mjs FOLDER
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { classesOf, KEYWORDS, typeOf } from "./types.mjs"

const DOCUMENTS = { "control-plane": "ControlPlaneCalls", launcher: "LauncherCalls" }

const snake = (name) => {
  const text = name
    .replace(/([a-z\d])([A-Z])/g, "$1_$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1_$2")
    .replaceAll("-", "_")
    .toLowerCase()
  return KEYWORDS.has(text) ? `${text}_` : text
}

/** The answer of an operation: JSON, events of a stream, lines of JSON, a file, or a text. */
const answerOf = (operation, name, types) => {
  const contents = Object.entries(operation.responses)
    .filter(([status]) => status.startsWith("2"))
    .flatMap(([, { content = {} }]) => Object.entries(content))
  const json = contents.filter(([type]) => type === "application/json").map(([, { schema }]) => schema)
  if (json.length > 0) {
    const found = [...new Set(json.map((schema) => typeOf(schema, name, types)))]
    return { call: "_json", type: found.length === 1 ? found[0] : `Union[${found.join(", ")}]` }
  }
  const media = contents.map(([type]) => type)
  if (media.includes("text/event-stream")) return { call: "_events", type: "Generator[StreamMessage, None, None]" }
  if (media.includes("application/x-ndjson")) return { call: "_lines", type: "Generator[Any, None, None]" }
  if (media.includes("application/zip")) return { call: "_bytes", type: "bytes" }
  return media.length === 0 ? { call: "_nothing", type: "None" } : { call: "_text", type: "str" }
}

const parameterType = (schema, name, types) =>
  schema.type === "array" || schema.anyOf?.some(({ type }) => type === "array") === true
    ? "Union[str, Sequence[str]]"
    : typeOf(schema, name, types)

const methodOf = (document, method, path, operation, types) => {
  const name = operation.operationId[0].toUpperCase() + operation.operationId.slice(1)
  const parameters = (operation.parameters ?? [])
    .map((one) => (one.$ref === undefined ? one : document.components.parameters[one.$ref.split("/").at(-1)]))
    .filter((one) => one.in !== "header" || one.name === "Last-Event-ID")
    .map((one) => ({ ...one, python: snake(one.name), type: parameterType(one.schema ?? {}, name, types) }))
  const group = (location) => parameters.filter((one) => one.in === location)
  const [required, optional] = [true, false].map((is) => group("query").filter((one) => (one.required === true) === is))
  const body = operation.requestBody?.content["application/json"]?.schema
  const bodyType = body === undefined ? undefined : typeOf(body, `${name}Body`, types)
  const keywords = [
    ...required.map(({ python, type }) => `${python}: ${type}`),
    ...[...optional, ...group("header")].map(({ python, type }) => `${python}: Optional[${type}] = None`)
  ]
  const bodyParts =
    bodyType === undefined
      ? []
      : [operation.requestBody.required === true ? `body: ${bodyType}` : `body: Optional[${bodyType}] = None`]
  const answer = answerOf(operation, `${name}Answer`, types)
  const dictionary = (list) => `{${list.map((one) => `${JSON.stringify(one.name)}: ${one.python}`).join(", ")}}`
  const given = [
    JSON.stringify(method.toUpperCase()),
    JSON.stringify(path),
    ...(group("path").length > 0 ? [`path=${dictionary(group("path"))}`] : []),
    ...(group("query").length > 0 ? [`query=${dictionary(group("query"))}`] : []),
    ...(group("header").length > 0 ? [`headers=${dictionary(group("header"))}`] : []),
    ...(bodyType === undefined ? [] : ["body=body"])
  ]
  const parts = [
    "self",
    ...group("path").map(({ python, type }) => `${python}: ${type}`),
    ...bodyParts,
    ...(keywords.length > 0 ? ["*", ...keywords] : [])
  ]
  const call = `self.${answer.call}(\n            ${given.join(",\n            ")},\n        )`
  return `    def ${snake(operation.operationId)}(
        ${parts.join(",\n        ")},
    ) -> ${answer.type}:
        """${operation.summary ?? operation.operationId}."""
        return ${answer.call === "_json" ? `cast(${JSON.stringify(answer.type)}, ${call})` : call}
`
}

const moduleOf = (document, className) => {
  const types = { classes: [], names: new Set(Object.keys(document.components.schemas)) }
  for (const [name, schema] of Object.entries(document.components.schemas)) classesOf(name, schema, types)
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation }))
  )
  // An operation without a success is one that is gone.
  const methods = operations
    .filter(({ operation }) => Object.keys(operation.responses).some((status) => status.startsWith("2")))
    .map(({ method, operation, path }) => methodOf(document, method, path, operation, types))
  return `# Generated from the OpenAPI document of ${document.info.title}.
from __future__ import annotations

from typing import Any, Dict, Generator, List, Literal, Optional, Sequence, TypedDict, Union, cast

from ..http import Service, StreamMessage

${types.classes.join("\n")}

class ${className}(Service):
    """Every operation of ${document.info.title}, by the name that the OpenAPI document has for it."""

${methods.join("\n")}`
}

const [folder] = process.argv.slice(2)
mkdirSync(folder, { recursive: true })
writeFileSync(join(folder, "__init__.py"), "")
for (const [name, className] of Object.entries(DOCUMENTS)) {
  const path = join(import.meta.dirname, "../../api/openapi", `${name}.json`)
  const text = moduleOf(JSON.parse(readFileSync(path, "utf8")), className)
  writeFileSync(join(folder, `${snake(name)}.py`), text)
}
