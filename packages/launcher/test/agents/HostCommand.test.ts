import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import type { AgentManifest } from "../../src/agents/AgentManifest.ts"
import { entrypointNames, hostCommand } from "../../src/agents/HostCommand.ts"

const manifest = (type: AgentManifest["entrypoint"]["type"], host: AgentManifest["host"] = {}): AgentManifest => ({
  id: "a",
  name: "A",
  framework: "custom",
  entrypoint: { type, value: "main" },
  host
})

const command = (
  subject: AgentManifest,
  paths: Partial<Parameters<typeof hostCommand>[1]> = {},
  parent: Readonly<Record<string, string>> = {}
) =>
  Result.getOrThrow(
    hostCommand(
      subject,
      { nodePath: "", pythonPath: "python3", hostEnvAllow: [], agentUser: undefined, ...paths },
      { ownNode: "/own/node", parent: { PATH: "/bin", DATABASE_URL: "secret", LANG: "C", ...parent } }
    )
  )

describe("the command of an agent", () => {
  it.each([
    ["a python module", manifest("python_module", { args: ["-v"] }), "python3", ["-m", "main", "-v"]],
    ["a python file", manifest("python_file"), "python3", ["main"]],
    ["a python of its own", manifest("python_file", { python: "/py" }), "/py", ["main"]],
    ["a node file", manifest("node_file", { args: ["--agent", "x"] }), "/own/node", ["main", "--agent", "x"]],
    ["a node of its own", manifest("node_file", { node: "/other" }), "/other", ["main"]]
  ] as const)("starts %s", (_, subject, executable, args) => {
    const { command: started, args: given } = command(subject)
    assert.deepStrictEqual([started, given], [executable, args])
  })

  it("takes the interpreters of the settings before its own", () => {
    const paths = { nodePath: "/set/node", pythonPath: "/set/python" }
    assert.strictEqual(command(manifest("node_file"), paths).command, "/set/node")
    assert.strictEqual(command(manifest("python_file"), paths).command, "/set/python")
  })

  it("passes on only the allowed variables of the service, then those of the manifest", () => {
    assert.deepStrictEqual(command(manifest("python_file", { env: { LANG: "de", MINE: "1" } })).env, {
      PATH: "/bin",
      LANG: "de",
      MINE: "1",
      EXAMPLE_AGENT_ENTRYPOINT: "main",
      PYTHONUNBUFFERED: "1"
    })
  })

  it("passes further variables that the setting allows, when they are set", () => {
    const { env } = command(manifest("node_file"), { hostEnvAllow: ["DATABASE_URL", "OPENAI_API_KEY"] })
    assert.strictEqual(env["DATABASE_URL"], "secret")
    assert.notProperty(env, "OPENAI_API_KEY")
  })

  it.each([
    ["src/agent.ts", ["dist/agent.js", "src/agent.ts"]],
    ["agents/agent.ts", ["agents/agent.ts", "agents/agent.js"]],
    ["agents/agent.js", ["agents/agent.js"]]
  ] as const)("looks for a Node file %s under the names %s", (value, names) => {
    const subject = (type: AgentManifest["entrypoint"]["type"]) => ({ ...manifest(type), entrypoint: { type, value } })
    assert.deepStrictEqual(entrypointNames(subject("node_file")), names)
    assert.deepStrictEqual(entrypointNames(subject("python_file")), [value])
  })

  it("keeps the home of the service from agents of another user", () => {
    const service = { HOME: "/root", USER: "root", NODE_COMPILE_CACHE: "/cache" }
    assert.deepInclude(command(manifest("node_file"), {}, service).env, service)
    const agentUser = { name: "nobody", uid: 65534, gid: 65534 }
    const { env } = command(manifest("node_file"), { agentUser }, service)
    assert.strictEqual(env["USER"], "nobody")
    assert.notProperty(env, "HOME")
  })

  it("refuses containers", () => {
    const paths = { nodePath: "", pythonPath: "", hostEnvAllow: [], agentUser: undefined }
    const refused = hostCommand(manifest("container"), paths, { ownNode: "", parent: {} })
    assert.isTrue(Result.isFailure(refused))
  })
})
