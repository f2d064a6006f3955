import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { parseManifest } from "../../src/agents/AgentManifest.ts"
import type { JsonObject } from "../../src/common/Json.ts"

const good: JsonObject = {
  id: "a",
  name: "A",
  framework: "custom",
  entrypoint: { type: "node_file", value: "main.ts" },
  host: { cwd: ".", args: ["--x"], env: { A: "1" }, startupTimeoutMs: 15000 },
  macp: { role: "coordinator" }
}
const changed = (changes: JsonObject) => JSON.stringify({ ...good, ...changes })
const python = { type: "python_module", value: "agents.main" }

describe("agent manifests", () => {
  it("are read without what only other tools need", () => {
    assert.deepStrictEqual(
      parseManifest(JSON.stringify(good)),
      Result.succeed({
        id: "a",
        name: "A",
        framework: "custom",
        entrypoint: { type: "node_file", value: "main.ts" },
        host: { cwd: ".", args: ["--x"], env: { A: "1" }, startupTimeoutMs: 15000 }
      })
    )
  })

  it.each<[name: string, text: string, problems: ReadonlyArray<string>]>([
    ["no JSON", "{", ["manifest is not JSON"]],
    ["no object", "[]", ["manifest is not an object"]],
    [
      "nothing in it",
      "{}",
      [
        "manifest.id is required",
        "manifest.name is required",
        "manifest.framework is required",
        "manifest.entrypoint is required"
      ]
    ],
    [
      "an empty entrypoint",
      changed({ entrypoint: {} }),
      ["manifest.entrypoint.type is required", "manifest.entrypoint.value is required"]
    ],
    ["an unknown framework", changed({ framework: "other" }), ["unsupported framework: other"]],
    [
      "an unknown entrypoint type",
      changed({ entrypoint: { type: "binary", value: "x" } }),
      ["unsupported entrypoint type: binary"]
    ],
    [
      "a python framework on node",
      changed({ framework: "langgraph" }),
      ['langgraph entrypoint type must be python_module or python_file, got "node_file"']
    ],
    [
      "missing framework keys",
      changed({ framework: "crewai", entrypoint: python, frameworkConfig: { inputMapper: "i", outputMapper: 1 } }),
      [
        "frameworkConfig.crewFactory is required and must be a string",
        "frameworkConfig.outputMapper is required and must be a string"
      ]
    ]
  ])("are refused with %s", (_, text, problems) => {
    assert.deepStrictEqual(parseManifest(text), Result.fail(problems))
  })

  it("need no frameworkConfig at all", () => {
    assert.isTrue(Result.isSuccess(parseManifest(changed({ framework: "langchain", entrypoint: python }))))
  })
})
