import { spawnSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Console from "effect/Console"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { packsCommand } from "../../src/author/Commands.ts"

const REPOSITORY = fileURLToPath(new URL("../../../../", import.meta.url))
const MAIN = fileURLToPath(new URL("../../src/author/main.ts", import.meta.url))
let folder = ""

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "runplane-packs-"))
  cpSync(join(REPOSITORY, "packs"), join(folder, "packs"), { recursive: true })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** `npm run packs -- <args>` over a copy of the packs, with what it prints. */
const packs = async (...args: ReadonlyArray<string>) => {
  const lines = { out: "", err: "" }
  const keep = (to: "out" | "err") => (text: unknown) => {
    lines[to] += `${String(text)}\n`
  }
  const captured: Console.Console = Object.assign(Object.create(console), { log: keep("out"), error: keep("err") })
  const withRoot = args.includes("--packs-root") ? args : [...args, "--packs-root", join(folder, "packs")]
  const exit = await Command.runWith(packsCommand, { version: "1.0.0" })(withRoot).pipe(
    Effect.provide(NodeServices.layer),
    Effect.provideService(Console.Console, captured),
    Effect.runPromiseExit
  )
  return { ok: Exit.isSuccess(exit), ...lines }
}
/** The indented block of a guide for authors that holds a text. */
const guideBlock = (text: string, file = "packs/README.md") => {
  const guide = readFileSync(join(REPOSITORY, file), "utf8")
  const block = guide.match(/(?:^ {4}.*\n)+/gm)?.find((candidate) => candidate.includes(text))
  return block?.replaceAll(/^ {4}/gm, "") ?? assert.fail(`the guide shows no ${text}`)
}
const at = (path: string) => join(folder, "packs", path)

describe("npm run packs", () => {
  it("finds nothing to complain about in the packs of this repository", async () => {
    const { err, ok, out } = await packs("lint")
    assert.deepStrictEqual([ok, err], [true, ""])
    assert.match(out, /^scenario:lint {2}\d+ pack\(s\) — 0 error\(s\), 0 warning\(s\)\n$/)
  })

  it("makes a scenario that is right at once and compiles", async () => {
    const made = await packs("new", "my-team", "lunch-position")
    assert.deepStrictEqual([made.ok, made.err], [true, ""])
    assert.match(made.out, /^scenario:new {2}scaffolded my-team\/lunch-position@1\.0\.0\n/)
    const scenario = at("my-team/scenarios/lunch-position/1.0.0")
    assert.deepStrictEqual(await packs("validate", `${scenario}/scenario.yaml`), {
      ok: true,
      out: `scenario:validate  ${scenario}/scenario.yaml\n  OK\n`,
      err: ""
    })
    assert.isTrue((await packs("lint", at("my-team"))).ok)
    const inputs = `${scenario}/fixtures/sample.json`
    const compiled = await packs("compile", "my-team/lunch-position@1.0.0", "--template", "default", "--inputs", inputs)
    const { runDescriptor, scenarioMeta } = JSON.parse(compiled.out)
    assert.strictEqual(runDescriptor.session.metadata.intent, "decide: Move the weekly release to Tuesday")
    assert.deepStrictEqual(scenarioMeta.sessionContext, JSON.parse(readFileSync(inputs, "utf8")))
  })

  it("copies a scenario under a new name, with its includes from another version", async () => {
    for (const version of ["1.0.0", "1.1.0"]) {
      const from = `incident/region-failover@${version}`
      assert.isTrue((await packs("new", "copies", "go-no-go", "--from", from, "--version", version)).ok)
      assert.match((await packs("validate", at(`copies/scenarios/go-no-go/${version}`))).out, /\n {2}OK\n$/)
    }
    assert.isTrue((await packs("new", "copies", "alone", "--from", "incident/region-failover@1.1.0")).ok)
    const linted = await packs("lint", at("copies"))
    assert.deepStrictEqual([linted.ok, linted.err], [true, ""])
    assert.include(linted.out, "0 warning(s)")
  })

  it("copies agents, policies and shared parts of Runplane to packs that have none", async () => {
    const root = ["--packs-root", join(folder, "empty", "packs")]
    const made = await packs("new", "mine", "first", ...root)
    assert.deepStrictEqual([made.ok, made.err], [true, ""])
    assert.include(made.out, "packs/_agents/manifests/panel-agent.json")
    for (const ref of [
      "release/production-rollout@2.0.0",
      "procurement/supplier-terms@1.0.0",
      "incident/region-failover@1.1.0"
    ]) {
      const [, scenario = ""] = /\/(.*)@/.exec(ref) ?? []
      assert.isTrue((await packs("new", "mine", scenario, "--from", ref, ...root)).ok, ref)
    }
    assert.deepStrictEqual(await packs("lint", ...root), {
      ok: true,
      out: "scenario:lint  1 pack(s) — 0 error(s), 0 warning(s)\n",
      err: ""
    })
    const profile = join(folder, "empty/packs/_agents/profiles/panel-agent.json")
    writeFileSync(profile, readFileSync(profile, "utf8").replace("Panel Agent", "Mine"))
    assert.isTrue((await packs("new", "mine", "second", ...root)).ok)
    assert.include(readFileSync(profile, "utf8"), "Mine")
  })

  it("never overwrites, and takes only kebab-case names", async () => {
    assert.isTrue((await packs("new", "twice", "one")).ok)
    assert.deepInclude(await packs("new", "twice", "one"), { ok: false, err: "twice/one@1.0.0 exists already\n" })
    const refused = await packs("new", "../outside", "one")
    assert.deepInclude(refused, {
      ok: false,
      err: '"../outside" must be kebab-case: small letters, digits and dashes\n'
    })
    assert.isFalse(existsSync(join(folder, "outside")))
    const strange = await packs("new", "a", "b", "--from", "no/such@1.0.0")
    assert.deepInclude(strange, { ok: false, err: "there is no scenario no/such@1.0.0 to copy\n" })
    assert.include((await packs("new", "a", "b", "--agents", "unknown")).err, "example agent not found: unknown")
  })

  it("names file, line and reason of a fault", async () => {
    const file = at("incident/pack.yaml")
    const text = readFileSync(file, "utf8")
    writeFileSync(file, `${text}\n: [`)
    const { err, ok, out } = await packs("lint", at("incident"))
    writeFileSync(file, text)
    assert.isFalse(ok)
    assert.match(err, /^ {2}FAIL {2}incident\/pack\.yaml: invalid YAML in incident\/pack\.yaml: .* \(line \d+\)\n$/)
    assert.match(out, /1 error\(s\)/)
  })

  it("names the agents that could not be started", async () => {
    const manifest = (name: string) => at(`_agents/manifests/${name}.json`)
    const [gone, wrong] = [manifest("panel-agent"), manifest("panel-lead-agent")]
    const texts = [readFileSync(gone, "utf8"), readFileSync(wrong, "utf8")] as const
    rmSync(gone)
    writeFileSync(wrong, '{ "id": "panel-lead-agent", "name": "Lead", "framework": "custom" }')
    const { err, ok } = await packs("lint")
    writeFileSync(gone, texts[0])
    writeFileSync(wrong, texts[1])
    assert.isFalse(ok)
    assert.deepStrictEqual(err.split("\n"), [
      "  FAIL  _agents/manifests/panel-agent.json: there is none, but panel-agent is attached by starting it",
      "  FAIL  _agents/manifests/panel-lead-agent.json: manifest.entrypoint is required",
      ""
    ])
  })

  it("warns of a profile that says another start than its manifest", async () => {
    const file = at("_agents/profiles/panel-agent.json")
    const before = readFileSync(file, "utf8")
    const changed = { ...JSON.parse(before), entrypoint: "other.py", bootstrapStrategy: "container" }
    writeFileSync(file, JSON.stringify(changed))
    const { err, ok, out } = await packs("lint")
    writeFileSync(file, before)
    assert.isTrue(ok)
    const said = `${out}\n${err}`
    assert.include(
      said,
      `_agents/profiles/panel-agent.json: the entrypoint is "other.py", but the manifest, which counts, starts "packages/agents/src/examples/main.ts": make them the same`
    )
    assert.include(
      said,
      `_agents/profiles/panel-agent.json: the bootstrapStrategy is "container", but the manifest starts a program: write "external"`
    )
  })

  it("says with file, line and what to do which scripts, interpreters and folders are missing", async () => {
    const name = "panel-agent"
    const file = at(`_agents/manifests/${name}.json`)
    const before = readFileSync(file, "utf8")
    const refusal = async (change: object) => {
      const manifest = { id: name, name: "Panel", framework: "custom", ...change }
      writeFileSync(file, JSON.stringify(manifest, null, 2))
      const { err } = await packs("lint")
      assert.strictEqual((await packs("new", "starts", "one", "--agents", name)).ok, true)
      const validated = await packs("validate", at("starts/scenarios/one/1.0.0"))
      rmSync(at("starts"), { recursive: true })
      assert.include(validated.err, err.trimEnd())
      return err.trimEnd().replace(`  FAIL  _agents/manifests/${name}.json:`, "")
    }
    const entrypoint = { type: "node_file", value: "nowhere/agent.js" }
    const looked = "beside the manifest, in the agents' folder, in the service's root or in Runplane's own folder"
    const script = `7: there is no nowhere/agent.js ${looked}: put it there, or correct entrypoint.value`
    const folderMissing = `11: no working directory attic ${looked}: make it, or correct host.cwd`
    const existing = { type: "python_file", value: "package.json" }
    assert.strictEqual(await refusal({ entrypoint }), script)
    assert.strictEqual(await refusal({ entrypoint: existing, host: { args: [], cwd: "attic" } }), folderMissing)
    assert.strictEqual(
      await refusal({ entrypoint: existing, host: { python: "no-such-python" } }),
      "10: there is no program no-such-python on the PATH of agents: install it, or correct host.python"
    )
    writeFileSync(file, before)
  })

  it("reports in one line that a file of inputs is not JSON", async () => {
    const inputs = join(folder, "broken.json")
    writeFileSync(inputs, '{\n  "severity": sev1\n}')
    const compile = (file: string) => packs("compile", "incident/region-failover@1.0.0", "--inputs", file)
    const broken = await compile(inputs)
    assert.deepStrictEqual([broken.ok, broken.out], [false, ""])
    assert.match(broken.err, /^invalid JSON in .*broken\.json: [^\n]+ \(line 2\)\n$/)
    writeFileSync(inputs, "[1]")
    assert.match((await compile(inputs)).err, /^.*broken\.json holds no JSON object: inputs are one[^\n]*\n$/)
    assert.match(
      (await compile(join(folder, "gone.json"))).err,
      /^inputs cannot be read from .*gone\.json: NotFound\n$/
    )
  })

  it("takes the policy and the agent of the guide as they are printed there", async () => {
    const files = {
      "_policies/policy.my-team.unanimous.json": guideBlock('"policy_id": "policy.my-team.unanimous"'),
      "_agents/profiles/clerk-agent.json": guideBlock('"transportIdentity": "agent://clerk-agent"'),
      "_agents/manifests/clerk-agent.json": guideBlock('"entrypoint": { "type": "python_file"')
    }
    for (const [file, text] of Object.entries(files)) writeFileSync(at(file), text)
    mkdirSync(at("_agents/my-agents"))
    writeFileSync(at("_agents/my-agents/clerk.py"), guideBlock("import json, os, time"))
    const agents = "panel-lead-agent,panel-agent,clerk-agent"
    const made = await packs("new", "guided", "with-clerk", "--agents", agents)
    const scenario = at("guided/scenarios/with-clerk/1.0.0/scenario.yaml")
    const text = readFileSync(scenario, "utf8")
    writeFileSync(scenario, text.replace("policyVersion: policy.default", "policyVersion: policy.my-team.unanimous"))
    const linted = await packs("lint")
    for (const file of [...Object.keys(files), "_agents/my-agents"]) rmSync(at(file), { recursive: true })
    rmSync(at("guided"), { recursive: true })
    assert.deepStrictEqual([made.ok, linted.ok, linted.err], [true, true, ""])
    assert.include(linted.out, "0 warning(s)")
  })

  it("takes the recipes as they are printed", async () => {
    const recipe = (text: string) => guideBlock(text, "docs/reference/packs.md")
    assert.isTrue((await packs("new", "recipes", "one")).ok)
    const scenario = at("recipes/scenarios/one/1.0.0/scenario.yaml")
    const policy = "_policies/policy.my-team.pausable.json"
    mkdirSync(at("_shared/participants"), { recursive: true })
    writeFileSync(
      at("_shared/participants/panel.yaml"),
      "- { id: panel-lead, role: lead, agentRef: panel-lead-agent }\n"
    )
    writeFileSync(at(policy), recipe('"policy_id": "policy.my-team.pausable"'))
    writeFileSync(at("recipes/scenarios/one/1.0.0/templates/urgent.yaml"), recipe("slug: urgent"))
    const indented = (text: string) => recipe(text).replaceAll(/^(?=.)/gm, "    ")
    const text = readFileSync(scenario, "utf8")
      .replace("policyVersion: policy.default", "policyVersion: policy.my-team.pausable")
      .replace(/^ {4}participants:[^\n]*\n( {6}.*\n)+/m, indented("!include ../../../../_shared"))
      .replace(/^ {4}contextTemplate:[^\n]*\n( {6}.*\n)+/m, indented("headline:"))
      .replace(/^ {4}metadataTemplate:[^\n]*\n( {6}.*\n)+/m, indented("cancellationDelegated"))
      .replace(/^ {8}to: .*\n/m, "")
    writeFileSync(scenario, text)
    const linted = await packs("lint", at("recipes"))
    const compiled = await packs("compile", "recipes/one@1.0.0", "--template", "urgent")
    for (const file of [policy, "recipes", "_shared/participants/panel.yaml"]) rmSync(at(file), { recursive: true })
    assert.deepStrictEqual([linted.ok, linted.err, compiled.err], [true, "", ""])
    const { runDescriptor, scenarioMeta } = JSON.parse(compiled.out)
    assert.deepStrictEqual(scenarioMeta.sessionContext, { budget: 100, headline: "Adopt the proposal, high urgency" })
    assert.deepInclude(runDescriptor.session, { ttlMs: 30_000, participants: [{ id: "panel-lead" }] })
    assert.deepInclude(runDescriptor.session.metadata, { team: "platform", cancellationDelegated: true })
  })

  it("answers a launch that cannot be compiled as the service would", async () => {
    const inputs = join(folder, "inputs.json")
    writeFileSync(inputs, '{ "severity": "sev9" }')
    const { err, ok, out } = await packs("compile", "incident/region-failover@1.0.0", "--inputs", inputs)
    assert.deepStrictEqual([ok, out], [false, ""])
    assert.match(err, /^VALIDATION_ERROR: Input validation failed\n\{/)
    assert.include(err, '"instancePath": "/severity"')
    assert.match((await packs("dry-run", "incident")).err, /^INVALID_SCENARIO_REF: /)
  })

  it("explains itself when it is called wrongly", async () => {
    const { err, ok, out } = await packs("validate")
    assert.isFalse(ok)
    assert.include(err, "Missing required argument: path")
    assert.include(out, "packs validate [flags] <path>")
    const lost = await packs("lint", "--packs-root", join(folder, "nowhere"))
    assert.isFalse(lost.ok)
    assert.include(lost.err, "does not exist")
  })

  it("ends with code 0 when nothing is wrong and with 1 when something is", () => {
    const run = (...args: ReadonlyArray<string>) => spawnSync(process.execPath, [MAIN, ...args], { cwd: folder }).status
    assert.deepStrictEqual([run("lint"), run("validate", "packs/incident")], [0, 1])
  })
})
