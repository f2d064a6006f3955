import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { openApiDocuments } from "../../document/OpenApiDocuments.ts"
import { ControlPlaneApi } from "../../src/control-plane/ControlPlaneApi.ts"
import { controlPlaneErrorStatus } from "../../src/errors/ControlPlaneErrors.ts"
import { launcherErrorStatus } from "../../src/errors/LauncherErrors.ts"
import { LauncherApi } from "../../src/launcher/LauncherApi.ts"
import { describedDocument, type Found, framesOf, linesOf } from "./DescribedDocument.ts"

const documents = openApiDocuments()

/** What an API declares: method and path of each endpoint, with the statuses of its errors. */
const endpointsOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(api: HttpApi.HttpApi<Id, Groups>) => {
  const endpoints = new Map<string, ReadonlyArray<string>>()
  HttpApi.reflect(api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint, errors }) => {
      endpoints.set(`${endpoint.method} ${endpoint.path.replaceAll(/:(\w+)/g, "{$1}")}`, [...errors.keys()].map(String))
    }
  })
  return endpoints
}

const services = [
  { name: "control-plane.json", endpoints: endpointsOf(ControlPlaneApi), codes: Object.keys(controlPlaneErrorStatus) },
  { name: "launcher.json", endpoints: endpointsOf(LauncherApi), codes: Object.keys(launcherErrorStatus) }
] as const

/** How a description ends. */
const SENTENCE = /[.:)]$/

describe.each(services)("the OpenAPI document $name", ({ codes, endpoints, name }) => {
  const { contents, document, entries, faults, operations, outgoing, parameters, responses } = describedDocument(name)

  it("is the file in the repository", () => {
    assert.strictEqual(documents[name], readFileSync(new URL(`../../openapi/${name}`, import.meta.url), "utf8"))
  })

  it("names the role that each operation needs, and answers 403 where not every key has it", () => {
    for (const { at, value } of operations) {
      assert.include(["ingest", "viewer", "operator", "admin", "any", "public"], value["x-required-role"], at)
      const isOpen = ["viewer", "any", "public"].includes(value["x-required-role"])
      if (!isOpen) assert.property(value.responses, "403", at)
    }
  })

  it("refers only to components it has", () => {
    for (const [reference] of documents[name]?.matchAll(/(?<="\$ref": ")[^"]+/g) ?? []) {
      const [, ...path] = reference.split("/")
      assert.isDefined(
        path.reduce((part, key) => part?.[key], document),
        reference
      )
    }
  })

  it("holds exactly the endpoints that the service serves", () => {
    assert.sameMembers(
      operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`),
      [...endpoints.keys()]
    )
  })

  it("describes every operation, with a unique name, under a described heading", () => {
    const tags = new Map<string, string>(
      document.tags.map((tag: Found["value"]) => [tag.name, tag.description] as const)
    )
    const ids = operations.map(({ value }) => value.operationId)
    assert.strictEqual(new Set(ids).size, ids.length)
    for (const { at, value } of [...operations, ...outgoing]) {
      assert.match(value.operationId, /^[a-z][A-Za-z]+$/, at)
      assert.match(value.summary, /^[A-Z].*[^.]$/, at)
      assert.match(value.description, SENTENCE, at)
      for (const tag of value.tags) assert.match(tags.get(tag) ?? "", SENTENCE, tag)
    }
  })

  it("has tags and names that generated clients keep apart", () => {
    const names = Object.keys(document.components.schemas)
    const lower = (texts: ReadonlyArray<string>) =>
      texts.map((text) => text.replaceAll(/[^A-Za-z0-9]/g, "").toLowerCase())
    for (const texts of [names, document.tags.map((tag: Found["value"]) => tag.name)])
      assert.strictEqual(new Set(lower(texts)).size, texts.length)
    // Two schemas of one identifier would be numbered.
    for (const schema of names) assert.match(schema, /^[A-Z][A-Za-z0-9]*$/)
    // In Go the constructor of X is NewX, its optional form NullableX, and a request ApiXRequest.
    const made = new Set([
      ...names.flatMap((schema) => [`New${schema}`, `Nullable${schema}`]),
      ...operations.map(({ value }) => `Api${value.operationId}Request`)
    ])
    assert.deepStrictEqual(
      names.filter((schema) => made.has(schema)),
      []
    )
    // One file for each tag, first of the paths and then of the webhooks.
    const tags = new Set(operations.flatMap(({ value }) => value.tags))
    for (const { at, value } of outgoing) for (const tag of value.tags) assert.isFalse(tags.has(tag), at)
  })

  it("has schemas that generated clients can write as code", () => {
    for (const { at, value } of entries({ at: "#/components", value: document.components }, "schemas"))
      assert.isNotObject(value.default, `${at}: a default of an object`)
    for (const { at, value } of operations.flatMap(parameters))
      assert.isFalse("anyOf" in value.schema && "type" in value.schema, `${at}: a choice beside a type`)
  })

  it("describes every parameter, header and answer, parameters and headers with an example", () => {
    for (const operation of operations) {
      for (const { at, value } of parameters(operation)) {
        assert.match(value.description ?? "", SENTENCE, at)
        assert.isDefined(value.example ?? value.schema.examples?.[0], at)
      }
      for (const response of responses(operation)) {
        assert.match(response.value.description, SENTENCE, response.at)
        assert.containsAllKeys(response.value.headers, ["X-Request-Id"], response.at)
      }
    }
    for (const { at, value } of entries({ at: "#/components", value: document.components }, "headers")) {
      assert.match(value.description, SENTENCE, at)
      assert.isDefined(value.example, at)
    }
  })

  it("describes every field", () => {
    const undescribed: Array<string> = []
    const visit = (at: string, schema: Found["value"]) => {
      for (const [field, inner] of Object.entries<Found["value"]>(schema.properties ?? {})) {
        if (inner.$ref === undefined && inner.description === undefined) undescribed.push(`${at}.${field}`)
        visit(`${at}.${field}`, inner)
      }
      for (const inner of [...(schema.items === undefined ? [] : [schema.items]), ...(schema.anyOf ?? [])]) {
        visit(at, inner)
      }
    }
    for (const [component, schema] of Object.entries<Found["value"]>(document.components.schemas)) {
      if (schema.description === undefined) undescribed.push(component)
      visit(component, schema)
    }
    assert.deepStrictEqual(undescribed, [])
  })

  it("shows of every body and answer what running services sent, and it fits the schema", () => {
    for (const operation of [...operations, ...outgoing]) {
      for (const { at, value } of contents(operation)) {
        // A file has bytes, and an example is a text.
        if (value.schema.format === "binary") continue
        const examples = Object.entries<Found["value"]>(value.examples ?? {})
        assert.isNotEmpty(examples, at)
        for (const [example, { value: shown }] of examples) {
          assert.deepStrictEqual(faults(`${at}/schema`, shown), [], `${at} ${example}`)
          const { contentMediaType } = value.schema
          if (contentMediaType === undefined) continue
          const items = contentMediaType === "text/event-stream" ? framesOf(shown) : linesOf(shown)
          assert.isNotEmpty(items, at)
          assert.deepStrictEqual(faults(`${at}/schema/contentSchema`, items), [], at)
        }
      }
    }
  })

  it("has examples of parameters and fields that fit their schemas", () => {
    const visit = (at: string, schema: Found["value"]) => {
      for (const example of schema.examples ?? []) assert.deepStrictEqual(faults(at, example), [], at)
      for (const { at: inner, value } of entries({ at, value: schema }, "properties")) visit(inner, value)
      if (schema.items !== undefined) visit(`${at}/items`, schema.items)
    }
    for (const { at, value } of entries({ at: "#/components", value: document.components }, "schemas")) visit(at, value)
    for (const { at, value } of operations.flatMap(parameters)) {
      visit(`${at}/schema`, value.schema)
      if (value.example !== undefined) assert.deepStrictEqual(faults(`${at}/schema`, value.example), [], at)
    }
  })

  it("describes every error code, and shows the form of each that requests are answered with", () => {
    const shown = new Set(
      operations
        .flatMap(responses)
        .flatMap((response) => entries(response, "content"))
        .flatMap(({ value }) => Object.values<Found["value"]>(value.examples ?? {}))
        .map(({ value }) => value?.errorCode)
    )
    for (const code of codes) {
      const [, meaning = ""] =
        new RegExp(`^\\| \`${code}\` \\| (.*) \\| \\d{3} \\|$`, "m").exec(document.info.description) ?? []
      assert.notStrictEqual(meaning, "", code)
      if (!/^of (a failed run|no operation)/.test(meaning)) assert.isTrue(shown.has(code), `${code} is not shown`)
    }
  })

  it("describes no failure of another status than the endpoint declares, but for those in front of all endpoints", () => {
    const inFront = ["401", "413", "415", "429", "500", "503"]
    for (const { at, method, path, value } of operations) {
      const failures = Object.keys(value.responses).filter((status) => !status.startsWith("2"))
      assert.includeMembers([...inFront, ...(endpoints.get(`${method.toUpperCase()} ${path}`) ?? [])], failures, at)
    }
  })
})

describe("the OpenAPI document of the control plane", () => {
  const { document, operations, resolved } = describedDocument("control-plane.json")
  const operation = (id: string) => operations.find(({ value }) => value.operationId === id)?.value

  it("describes the fields of bodies, and the ranges and defaults of queries", () => {
    assert.deepStrictEqual(operation("createRun").requestBody.content["application/json"].schema, {
      $ref: "#/components/schemas/RunDescriptor"
    })
    assert.deepInclude(document.components.schemas.SessionDescriptor.properties.participants, {
      minItems: 1,
      maxItems: 1000
    })
    const [limit] = operation("listRuns").parameters.filter(
      (parameter: { name?: string }) => parameter.name === "limit"
    )
    assert.deepInclude(limit, { in: "query", required: false })
    assert.deepInclude(limit.schema, { type: "integer", minimum: 1, maximum: 200, default: 50 })
  })

  it("lists each way in which an operation fails, and no other", () => {
    assert.hasAllKeys(operation("getRun").responses, ["200", "400", "401", "403", "404", "429", "500", "503"])
    assert.hasAllKeys(operation("cancelRun").responses, [
      ...["201", "400", "401", "403", "404", "409", "413", "415", "429", "500", "501", "502", "503", "504"]
    ])
    assert.hasAllKeys(operation("getHealth").responses, ["200", "500"])
  })

  it("declares 410 as the only answer of removed endpoints", () => {
    for (const id of ["messagesRemoved", "signalRemoved", "contextRemoved"]) {
      assert.isTrue(operation(id).deprecated)
      assert.notProperty(operation(id).responses, "204")
      const gone = resolved({ at: "", value: operation(id).responses["410"] }).value
      assert.deepInclude(Object.values<Found["value"]>(gone.content["application/json"].examples)[0].value, {
        statusCode: 410,
        errorCode: "ENDPOINT_REMOVED"
      })
    }
  })

  it("names the events of the streams with the schemas of their data, and the header to resume by", () => {
    const { contentSchema } = operation("streamRun").responses["200"].content["text/event-stream"].schema
    assert.deepStrictEqual(
      contentSchema.items.anyOf.map((frame: Found["value"]) => [
        frame.properties.event.enum[0],
        frame.properties.data.$ref
      ]),
      [
        ["snapshot", "#/components/schemas/RunState"],
        ["canonical_event", "#/components/schemas/CanonicalEvent"],
        ["heartbeat", "#/components/schemas/Heartbeat"],
        ["reset", "#/components/schemas/Reset"]
      ]
    )
    const names = operation("streamRun").parameters.map((parameter: { name?: string }) => parameter.name)
    assert.includeMembers(names, ["Last-Event-ID", "afterSeq"])
  })

  it("has the budget on counted answers, and Retry-After on answers over it", () => {
    const { responses } = operation("getRun")
    assert.containsAllKeys(responses["200"].headers, [
      ...["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"]
    ])
    const { headers } = resolved({ at: "", value: responses["429"] }).value
    assert.hasAllKeys(headers, ["X-Request-Id", "Retry-After"])
    assert.hasAllKeys(operation("getHealth").responses["200"].headers, ["X-Request-Id"])
  })
})
