import { Ajv2020 } from "ajv/dist/2020.js"
import formats from "ajv-formats"
import { openApiDocuments } from "../../document/OpenApiDocuments.ts"

type Json = ReturnType<typeof JSON.parse>

/** A thing in a document, and where it stands. */
export interface Found {
  readonly at: string
  readonly value: Json
}

export interface DescribedOperation extends Found {
  readonly method: string
  readonly path: string
}

const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace"]

const escaped = (key: string) => key.replaceAll("~", "~0").replaceAll("/", "~1")

/** A generated document with the queries of tests. */
export const describedDocument = (name: "control-plane.json" | "launcher.json") => {
  const document: Json = JSON.parse(openApiDocuments()[name] ?? "{}")
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  formats.default(ajv)
  ajv.addSchema(document, "document")

  const found = (at: string, value: Json): Found => ({ at, value })
  const entries = ({ at, value }: Found, key: string): ReadonlyArray<Found> =>
    Object.entries(value?.[key] ?? {}).map(([inner, child]) => found(`${at}/${escaped(key)}/${escaped(inner)}`, child))

  /** Follows a reference to the thing itself. */
  const resolved = (thing: Found): Found => {
    const reference: unknown = thing.value?.$ref
    if (typeof reference !== "string") return thing
    const target = reference
      .split("/")
      .slice(1)
      .reduce((part: Json, key) => part[key.replaceAll("~1", "/").replaceAll("~0", "~")], document)
    return found(reference, target)
  }

  const operations: ReadonlyArray<DescribedOperation> = entries(found("#", document), "paths").flatMap((path) =>
    METHODS.flatMap((method) =>
      path.value[method] === undefined
        ? []
        : [
            {
              at: `${path.at}/${method}`,
              value: path.value[method],
              method,
              path: path.at.slice("#/paths/".length).replaceAll("~1", "/")
            }
          ]
    )
  )
  const outgoing = entries(found("#", document), "webhooks").map(({ at, value }) => found(`${at}/post`, value.post))

  const responses = (operation: Found) => entries(operation, "responses").map(resolved)
  const parameters = (operation: Found): ReadonlyArray<Found> =>
    (operation.value.parameters ?? []).map((parameter: Json, index: number) =>
      resolved(found(`${operation.at}/parameters/${index}`, parameter))
    )
  /** Bodies and answers of an operation, by media type. */
  const contents = (operation: Found): ReadonlyArray<Found> => [
    ...(operation.value.requestBody === undefined
      ? []
      : entries(found(`${operation.at}/requestBody`, operation.value.requestBody), "content")),
    ...responses(operation).flatMap((response) => entries(response, "content"))
  ]

  /** What is wrong with a value by the schema that stands somewhere in the document. */
  const faults = (at: string, value: unknown): ReadonlyArray<string> => {
    const validate = ajv.getSchema(`document${at}`) ?? ajv.compile({ $ref: `document${at}` })
    return validate(value) ? [] : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`)
  }

  return { document, operations, outgoing, responses, parameters, contents, entries, faults, resolved }
}

/** The frames of an event stream, each with its data parsed. */
export const framesOf = (text: string): ReadonlyArray<Readonly<Record<string, unknown>>> =>
  text
    .split("\n\n")
    .filter((frame) => frame !== "")
    .map((frame) =>
      Object.fromEntries(
        frame.split("\n").map((line) => {
          const [name = "", ...rest] = line.split(": ")
          const value = rest.join(": ")
          return [name, name === "data" ? JSON.parse(value) : value]
        })
      )
    )

export const linesOf = (text: string): ReadonlyArray<unknown> =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line))
