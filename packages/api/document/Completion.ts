import { PROTOBUF_TYPE } from "../src/control-plane/ingest/IngestGroup.ts"
import { REQUIRED_PARAMETER } from "../src/validation/RequestSchema.ts"
import type { ErrorAnswer } from "./ErrorAnswer.ts"
import { byStatus, errorResponse, responseName } from "./ErrorResponses.ts"
import { type ItemStream, itemMedia, itemText } from "./EventStreams.ts"
import { type Examples, withExamples } from "./Examples.ts"
import { answerHeaders, headers, parameters, sharedParameters } from "./Headers.ts"
import { listAt, mapValues, partAt, type Shape, shapeOf, without } from "./Shape.ts"
import { tidied } from "./Tidy.ts"

/** What the document of a service holds beside what its declarations say. */
export interface Completion {
  /**
   * All failures by name. `BrokenRules`, `UnreadableBody`, `Unauthenticated` and so on follow from the form of an
   * operation.
   */
  readonly answers: Readonly<Record<string, ErrorAnswer>>
  /** The names of the failures that each operation declares, by its id. */
  readonly declared: ReadonlyMap<string, ReadonlyArray<string>>
  readonly examples: Examples
  /** Answers that are sequences of JSON, by operation and content type. */
  readonly streams?: Readonly<Record<string, Readonly<Record<string, ItemStream>>>>
  /** Callbacks by operation. */
  readonly callbacks?: Readonly<Record<string, Shape>>
  readonly webhooks?: Shape
  /** Tags of operations that no endpoint declares. */
  readonly tags?: ReadonlyArray<Shape>
  /** Schemas that no endpoint declares, made of those that are declared. */
  readonly schemas?: (declared: Shape) => Shape
  /** Whether requests without a key use up the budget of their client. */
  readonly countsRefused: boolean
}

/**
 * Finishes a generated document: names shared parts, and says of every operation how it fails, which headers its
 * answers have, and what running services asked and answered. Always the same document for the same declarations.
 */
export const complete =
  (completion: Completion) =>
  (generated: Shape): Shape => {
    const declared = partAt(generated, "components", "schemas")
    const document: Shape = {
      ...generated,
      components: {
        ...partAt(generated, "components"),
        schemas: sorted({ ...declared, ...completion.schemas?.(declared) })
      }
    }
    const responses: Record<string, Shape> = {}
    const paths = mapValues(partAt(document, "paths"), (path) =>
      mapValues(shapeOf(path), (operation) => completedOperation(shapeOf(operation), completion, declared, responses))
    )
    const completed = tidied({
      ...document,
      // Relative to the document, which a proxy may serve below any path.
      servers: [{ url: ".", description: "The service that serves this document" }],
      tags: describedOnce([...listAt(document, "tags"), ...(completion.tags ?? [])]),
      paths,
      ...(completion.webhooks === undefined ? {} : { webhooks: completion.webhooks }),
      components: { ...partAt(document, "components"), parameters, headers, responses: sorted(responses) }
    })
    return shapeOf(completed)
  }

const completedOperation = (
  operation: Shape,
  completion: Completion,
  declared: Shape,
  shared: Record<string, Shape>
): Shape => {
  const id = String(operation["operationId"])
  const examples = completion.examples[id]
  const limited = "429" in partAt(operation, "responses")
  const failures = failuresOf(operation, limited, completion)
  const request = examples?.request === undefined ? {} : { recorded: json(examples.request) }
  const callbacks = completion.callbacks?.[id]
  const body = operation["requestBody"]
  const binary = PROTOBUF_TYPE in partAt(operation, "requestBody", "content")
  // Exports spend no budget.
  const counted = limited && !binary
  return {
    ...without(operation, "requestBody", "responses"),
    parameters: [...listAt(operation, "parameters").map(describedParameter), ...sharedParameters],
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            content: withBinaryExample(withExamples(partAt(operation, "requestBody", "content"), request)),
            required: hasRequiredFields(partAt(operation, "requestBody", "content"), declared)
          }
        }),
    responses: {
      ...successes(operation, completion, counted),
      ...errorResponses(failures, completion, { binary, counted }, shared)
    },
    ...(callbacks === undefined ? {} : { callbacks })
  }
}

/** An absent body is checked as an empty object. */
const hasRequiredFields = (content: Shape, declared: Shape): boolean =>
  Object.keys(content).some((contentType) => {
    const name =
      String(partAt(content, contentType, "schema")["$ref"])
        .split("/")
        .at(-1) ?? ""
    return listAt(partAt(declared, name), "required").length > 0
  })

const json = (value: unknown) => ({ contentType: "application/json", value })

/** The failures that an operation declares, and those that follow from its form. */
const failuresOf = (operation: Shape, counted: boolean, { answers, declared }: Completion): ReadonlyArray<string> => {
  const own = declared.get(String(operation["operationId"])) ?? []
  const takes = listAt(operation, "parameters").map(shapeOf)
  const hasBody = "requestBody" in operation
  const hasQuery = takes.some((parameter) => parameter["in"] === "query")
  const hasId = takes.some((parameter) => parameter["in"] === "path" && isId(String(parameter["name"])))
  // A name in the path that has a form.
  const hasForm = takes.some(
    (parameter) =>
      parameter["in"] === "path" && !isId(String(parameter["name"])) && "pattern" in partAt(parameter, "schema")
  )
  const guarded = listAt(operation, "security").length > 0
  const names = [
    ...(hasBody || hasForm || (hasQuery && counted) ? ["BrokenRules"] : []),
    ...(hasBody ? ["UnreadableBody"] : []),
    ...(hasId ? ["MalformedId"] : []),
    ...own,
    ...(guarded ? ["Unauthenticated", "RoleForbidden", "IssuerUnavailable"] : []),
    ...(hasBody ? ["PayloadTooLarge", "UnsupportedMediaType"] : []),
    ...(counted ? ["TooManyRequests", "DatabaseUnavailable"] : []),
    "InternalFailure"
  ]
  return names.filter((name) => own.includes(name) || name in answers)
}

const isId = (name: string) => name === "id" || name === "deliveryId"

/** A response for more failures than these has no good name, and few operations have it in common. */
const MAX_SHARED_FAILURES = 3

/** Failures whose answers say when to try again. */
const WITH_RETRY_AFTER = ["TooManyRequests", "DatabaseUnavailable", "IssuerUnavailable", "SpanInboxFull"]

/** An empty message of protobuf has no bytes. */
const EMPTY_MESSAGE = { empty: { summary: "An empty message", value: "" } }

/** The content types of a body with an example of its protobuf form, if it has one. */
const withBinaryExample = (content: Shape): Shape =>
  PROTOBUF_TYPE in content
    ? { ...content, [PROTOBUF_TYPE]: { ...partAt(content, PROTOBUF_TYPE), examples: EMPTY_MESSAGE } }
    : content

/** Errors of a request in protobuf are in protobuf too. */
const alsoBinary = (response: Shape): Shape => ({
  ...response,
  content: withBinaryExample({
    ...partAt(response, "content"),
    [PROTOBUF_TYPE]: { schema: { type: "string", format: "binary" } }
  })
})

const errorResponses = (
  failures: ReadonlyArray<string>,
  { answers, countsRefused }: Completion,
  { binary, counted }: { readonly binary: boolean; readonly counted: boolean },
  shared: Record<string, Shape>
): Shape =>
  Object.fromEntries(
    byStatus(failures, answers).map(([status, group]) => {
      const overBudget = group.every(([name]) => name === "TooManyRequests")
      // A body that is too large is refused before it is counted.
      const isCounted = counted && !overBudget && status !== 413 && (countsRefused || status !== 401)
      const retry = group.some(([name]) => WITH_RETRY_AFTER.includes(name))
      const response = errorResponse(group, answerHeaders({ counted: isCounted, retry }))
      if (binary) return [String(status), alsoBinary(response)]
      if (group.length > MAX_SHARED_FAILURES) return [String(status), response]
      const name = counted ? responseName(group) : `${responseName(group)}Uncounted`
      shared[name] = response
      return [String(status), { $ref: `#/components/responses/${name}` }]
    })
  )

const successes = (operation: Shape, { examples, streams }: Completion, counted: boolean): Shape => {
  const id = String(operation["operationId"])
  const declared = Object.entries(partAt(operation, "responses")).filter(
    // A probe answers by its status; endpoints behind the middleware answer that status for other reasons.
    ([status]) => status.startsWith("2") || (status === "503" && !counted)
  )
  // An endpoint that declares no answer is given an empty one, which a removed endpoint never sends.
  if (operation["deprecated"] === true) return {}
  return Object.fromEntries(
    declared.map(([status, response]) => {
      const whole = shapeOf(response)
      const content = mapValues(partAt(whole, "content"), (media, contentType) => {
        const stream = streams?.[id]?.[contentType]
        return stream === undefined ? media : itemMedia(contentType, stream)
      })
      const described = withBinaryExample(withExamples(content, examples[id]?.answers ?? {}))
      return [
        status,
        {
          ...without(whole, "content"),
          description: [textOf(whole["description"], status), ...streamTexts(streams?.[id])].join("\n\n"),
          headers: answerHeaders({ counted }),
          ...(Object.keys(content).length === 0 ? {} : { content: described })
        }
      ]
    })
  )
}

const streamTexts = (streams: Readonly<Record<string, ItemStream>> = {}) =>
  Object.entries(streams).map(([contentType, stream]) => `As \`${contentType}\`: ${itemText(stream)}`)

const textOf = (description: unknown, status: string) => {
  if (status === "204") return "Done; the answer has no body."
  return typeof description === "string" && description !== "Success" ? `${description}.` : "The requested data."
}

/** What is said about a parameter belongs beside its name, not into its schema. */
const describedParameter = (parameter: unknown): Shape => {
  const whole = shapeOf(parameter)
  const { description, examples, [REQUIRED_PARAMETER]: required, ...schema } = partAt(whole, "schema")
  const [example] = Array.isArray(examples) ? examples : []
  return {
    ...without(whole, "schema"),
    name: whole["name"] === "last-event-id" ? "Last-Event-ID" : whole["name"],
    // An empty value of a query counts as none.
    ...(whole["in"] === "query" && required !== true ? { allowEmptyValue: true } : {}),
    ...(required === true ? { required } : {}),
    ...(description === undefined ? {} : { description }),
    // Pages that try an operation fill its parameters in by their examples: right for an id, wrong for a filter.
    ...(whole["required"] === true || required === true
      ? { schema, example }
      : { schema: { ...schema, examples: [example] } })
  }
}

/** Groups of one name stand under one heading. */
const describedOnce = (tags: ReadonlyArray<unknown>): ReadonlyArray<Shape> => {
  const known = new Map<unknown, Shape>()
  for (const tag of tags) {
    const shape = shapeOf(tag)
    known.set(shape["name"], { ...shape, ...known.get(shape["name"]) })
  }
  return [...known.values()]
}

const sorted = (shape: Shape): Shape =>
  Object.fromEntries(Object.entries(shape).sort(([left], [right]) => (left < right ? -1 : 1)))
