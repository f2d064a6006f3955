import { renameSync, rmSync, symlinkSync, unlinkSync, utimesSync, writeFileSync } from "node:fs"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import { PackRegistry } from "../../src/catalog/PackRegistry.ts"
import { SETTLING_MS } from "../../src/catalog/TracedFiles.ts"
import { makeTree, writeTree } from "../fixtures/DiskTree.ts"
import { packYaml, scenarioYaml, smallPack, templateYaml } from "../fixtures/Packs.ts"
import { settingsLayer } from "../fixtures/Settings.ts"

const VERSION = "packs/demo/scenarios/one/1.0.0"
const LONG_AGO = new Date("2026-01-01T00:00:00Z")

/**
 * The small pack on disk, settled, behind a registry without a cache time; `reads` counts the files that were opened.
 */
const makeStage = Effect.gen(function* () {
  const root = yield* makeTree({
    ...smallPack(),
    [`/${VERSION}/scenario.yaml`]: scenarioYaml({ launch: "contextTemplate: !include ../../../shared.yaml" }),
    "/packs/demo/shared.yaml": "n: 1"
  })
  const settle = Effect.sync(() => settleTree(root))
  yield* settle
  const reads = { count: 0 }
  const counting = Layer.effect(
    FileSystem.FileSystem,
    Effect.map(FileSystem.FileSystem, (fs) => ({
      ...fs,
      readFile: (path: string) => {
        reads.count++
        return fs.readFile(path)
      }
    }))
  ).pipe(Layer.provide(NodeFileSystem.layer))
  const context = yield* Layer.build(
    PackRegistry.layer.pipe(
      Layer.provide(settingsLayer({ packsDir: `${root}/packs`, registryCacheTtlMs: 0 })),
      Layer.provide(Layer.merge(counting, NodePath.layer))
    )
  )
  const { catalog } = yield* Effect.provideContext(PackRegistry, context)
  const shown = Effect.map(catalog, ({ packs }) =>
    packs.map(({ metadata, scenarios, slug }) => ({
      slug,
      name: metadata.name,
      context: scenarios[0]?.versions[0].base.launch.contextTemplate,
      templates: scenarios[0]?.versions[0].templates.map((template) => template.slug)
    }))
  )
  return { root, reads, shown, settle, catalog, at: (path: string) => `${root}/${path}` }
})

/** As if nothing had been touched for a long time. */
const settleTree = (root: string) => {
  for (const path of [
    "",
    "/demo",
    "/demo/pack.yaml",
    "/demo/shared.yaml",
    "/demo/scenarios",
    "/demo/scenarios/one",
    "/demo/scenarios/one/1.0.0",
    "/demo/scenarios/one/1.0.0/scenario.yaml"
  ]) {
    utimesSync(`${root}/packs${path}`, LONG_AGO, LONG_AGO)
  }
}

const demo = { slug: "demo", name: "Demo", context: { n: 1 }, templates: [] }

layer(NodeFileSystem.layer, { excludeTestServices: true })("packs on disk, without a cache time,", (it) => {
  it.effect("are not read again while nothing has changed", () =>
    Effect.gen(function* () {
      const { reads, shown, catalog } = yield* makeStage
      assert.deepStrictEqual(yield* shown, [demo])
      const first = yield* catalog
      const before = reads.count
      assert.strictEqual(yield* catalog, first)
      assert.deepStrictEqual([reads.count, before], [3, 3])
    }).pipe(Effect.scoped)
  )

  it.effect.each<
    readonly [what: string, change: (at: (path: string) => string) => void, shown: ReadonlyArray<unknown>]
  >([
    [
      "a file with a new content of the same length",
      (at) => writeFileSync(at("packs/demo/pack.yaml"), packYaml().replace("name: Demo", "name: Omed")),
      [{ ...demo, name: "Omed" }]
    ],
    [
      "a file with a new content and an old time stamp",
      (at) => {
        writeFileSync(at("packs/demo/pack.yaml"), packYaml().replace("name: Demo", "name: Demolition"))
        utimesSync(at("packs/demo/pack.yaml"), LONG_AGO, LONG_AGO)
      },
      [{ ...demo, name: "Demolition" }]
    ],
    [
      "a file put in another's place, with its length and time stamp",
      (at) => {
        writeFileSync(at("new"), packYaml().replace("name: Demo", "name: Omed"))
        utimesSync(at("new"), LONG_AGO, LONG_AGO)
        renameSync(at("new"), at("packs/demo/pack.yaml"))
      },
      [{ ...demo, name: "Omed" }]
    ],
    ["an included file", (at) => writeFileSync(at("packs/demo/shared.yaml"), "n: 2"), [{ ...demo, context: { n: 2 } }]],
    [
      "a template that was not there",
      (at) => writeTree(at(""), { [`/${VERSION}/templates/t.yaml`]: templateYaml("t") }),
      [{ ...demo, templates: ["t"] }]
    ],
    [
      "a pack that was not there",
      (at) => writeTree(at(""), { "/packs/a-new/pack.yaml": packYaml({ slug: "new" }) }),
      [{ slug: "new", name: "Demo", context: undefined, templates: undefined }, demo]
    ],
    ["a pack that is gone", (at) => rmSync(at("packs/demo"), { recursive: true }), []],
    [
      "a link that leads to another file",
      (at) => {
        unlinkSync(at("packs/demo/shared.yaml"))
        writeFileSync(at("packs/demo/other.yaml"), "n: 3")
        symlinkSync("other.yaml", at("packs/demo/shared.yaml"))
      },
      [{ ...demo, context: { n: 3 } }]
    ]
  ])("show %s at the next request", ([, change, expected]) =>
    Effect.gen(function* () {
      const { at, shown } = yield* makeStage
      yield* shown
      change(at)
      assert.deepStrictEqual(yield* shown, expected)
    }).pipe(Effect.scoped)
  )

  it.effect("are read again as long as a change is so recent that its time stamp proves nothing", () =>
    Effect.gen(function* () {
      const { at, reads, shown } = yield* makeStage
      const recent = new Date(Date.now() - SETTLING_MS / 2)
      utimesSync(at("packs/demo/pack.yaml"), recent, recent)
      yield* shown
      const before = reads.count
      yield* shown
      assert.isAbove(reads.count, before)
    }).pipe(Effect.scoped)
  )

  it.effect("report file, line and reason of a broken file, read it once, and recover", () =>
    Effect.gen(function* () {
      const { at, reads, settle, shown } = yield* makeStage
      writeFileSync(at("packs/demo/pack.yaml"), "apiVersion: scenarios.macp.dev/v1\nkind: ScenarioPack\nmetadata: [")
      yield* settle
      const error = yield* Effect.flip(shown)
      assert.match(error.message, /^invalid YAML in demo\/pack\.yaml: .+ \(line 3\)$/)
      const before = reads.count
      assert.strictEqual((yield* Effect.flip(shown)).message, error.message)
      assert.strictEqual(reads.count, before)
      writeFileSync(at("packs/demo/pack.yaml"), packYaml())
      assert.deepStrictEqual(yield* shown, [demo])
    }).pipe(Effect.scoped)
  )
})
