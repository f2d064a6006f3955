import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { openApiDocuments } from "../../src/openapi/documents.ts"

const documents = openApiDocuments()
const parsed = (name: string) => JSON.parse(documents[name] ?? "{}")

describe("the OpenAPI documents", () => {
  it.each(Object.keys(documents))("%s is the file in the repository", (name) => {
    assert.strictEqual(documents[name], readFileSync(new URL(`../../openapi/${name}`, import.meta.url), "utf8"))
  })

  it.each(Object.keys(documents))("%s refers only to components it has", (name) => {
    const components = Object.keys(parsed(name).components.schemas)
    for (const [, component] of documents[name]?.matchAll(/#\/components\/schemas\/([^"]+)/g) ?? []) {
      assert.include(components, component)
    }
  })

  it("describe the fields of bodies and the ranges and defaults of queries", () => {
    const { paths, components } = parsed("control-plane.json")
    assert.deepStrictEqual(paths["/runs"].post.requestBody.content["application/json"].schema, {
      $ref: "#/components/schemas/RunDescriptor"
    })
    assert.deepInclude(components.schemas.RunDescriptor.properties.session.properties.participants, {
      minItems: 1,
      maxItems: 1000
    })
    const limit = paths["/runs"].get.parameters.find((parameter: { name: string }) => parameter.name === "limit")
    assert.deepStrictEqual(limit, {
      name: "limit",
      in: "query",
      required: false,
      schema: { type: "integer", minimum: 1, maximum: 200, default: 50 }
    })
    assert.hasAllKeys(paths["/runs/{id}/cancel"].post.responses, [
      ...["201", "400", "401", "403", "404", "405", "409", "429", "500", "501", "502", "503", "504"]
    ])
  })

  it("hold every endpoint of the two services", () => {
    assert.includeMembers(Object.keys(parsed("launcher.json").paths), [
      "/healthz",
      "/packs",
      "/packs/{packSlug}/scenarios",
      "/scenarios",
      "/agents",
      "/agents/{agentRef}",
      "/packs/{packSlug}/scenarios/{scenarioSlug}/versions/{version}/launch-schema",
      "/launch/compile",
      "/examples/run"
    ])
    assert.hasAllKeys(parsed("control-plane.json").paths["/runs/{id}/messages"], ["get", "post"])
  })
})
