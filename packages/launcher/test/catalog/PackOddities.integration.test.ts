import { execFileSync } from "node:child_process"
import { cpSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { compileInputSchema } from "../../src/catalog/InputSchema.ts"
import { MAX_FILE_MIB } from "../../src/catalog/PackFiles.ts"
import { type LoadedCatalog, loadCatalog } from "../../src/catalog/PackLoader.ts"
import { makeTree } from "../fixtures/DiskTree.ts"
import { packYaml, scenarioYaml, smallPack, templateYaml } from "../fixtures/Packs.ts"

const PACK = "/packs/demo/pack.yaml"
const SCENARIO = "/packs/demo/scenarios/one/1.0.0/scenario.yaml"
const OUTSIDE = "/outside/scenarios/one/1.0.0/scenario.yaml"

/** Loads the small pack after a change of its files on disk; answers the slugs, or the complaint. */
const loaded = Effect.fnUntraced(function* (change: (root: string) => void) {
  const root = yield* makeTree({ ...smallPack(), [OUTSIDE]: scenarioYaml(), "/outside/pack.yaml": packYaml() })
  change(root)
  return packsOf(yield* load(root))
})

const load = (root: string) => Effect.provide(loadCatalog(`${root}/packs`, compileInputSchema), NodePath.layer)

const packsOf = ({ catalog }: LoadedCatalog) =>
  catalog.packs.map((pack) => ({ slug: pack.slug, scenarios: pack.scenarios.map(({ slug }) => slug) }))

const demo = [{ slug: "demo", scenarios: ["one"] }]

layer(NodeFileSystem.layer, { excludeTestServices: true })("pack files on disk", (it) => {
  it.effect.each<readonly [what: string, change: (root: string) => void]>([
    ["a byte order mark", (root) => writeFileSync(`${root}${PACK}`, `\ufeff${packYaml()}`)],
    ["lines that end in CR LF", (root) => writeFileSync(`${root}${SCENARIO}`, scenarioYaml().replaceAll("\n", "\r\n"))],
    [
      "a byte order mark in an included JSON file",
      (root) => {
        writeFileSync(`${root}${SCENARIO}`, scenarioYaml({ launch: "contextTemplate: !include ./c.json" }))
        writeFileSync(`${root}/packs/demo/scenarios/one/1.0.0/c.json`, '\ufeff{"n":1}')
      }
    ],
    ["a link to nowhere beside the packs", (root) => symlinkSync("nowhere", `${root}/packs/dangling`)],
    [
      "litter with the names of pack files, in every folder",
      (root) => {
        const version = `${root}/packs/demo/scenarios/one/1.0.0`
        mkdirSync(`${version}/templates/sub.yaml`, { recursive: true })
        for (const litter of ["/packs/._x", "/packs/demo/scenarios/._one", "/packs/demo/scenarios/one/.1.0.0.bak"]) {
          cpSync(`${root}/packs/demo/scenarios/one/1.0.0`, `${root}${litter}`, { recursive: true })
        }
        writeFileSync(`${version}/templates/._a.yaml`, Buffer.from("000516070002", "hex"))
        writeFileSync(`${version}/templates/.a.yaml.swp`, "b0VIM")
      }
    ],
    ["a file beside the packs", (root) => writeFileSync(`${root}/packs/notes.txt`, "n")],
    [
      "a scenario version that is a link within the packs",
      (root) => symlinkSync("1.0.0", `${root}/packs/demo/scenarios/one/2.0.0`)
    ],
    [
      "everything behind links, as orchestrators mount them",
      (root) => {
        renameSync(`${root}/packs/demo`, `${root}/packs/..2026`)
        symlinkSync("..2026", `${root}/packs/..data`)
        symlinkSync("..data", `${root}/packs/demo`)
      }
    ]
  ])("may have %s", ([, change]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* loaded(change), demo)
    }).pipe(Effect.scoped)
  )

  it.effect.each<readonly [what: string, change: (root: string) => void, message: string]>([
    [
      "UTF-16",
      (root) => writeFileSync(`${root}${PACK}`, Buffer.from(`\ufeff${packYaml()}`, "utf16le")),
      "demo/pack.yaml is not UTF-8 text (line 1)"
    ],
    [
      "Latin-1",
      (root) => writeFileSync(`${root}${PACK}`, Buffer.from(packYaml().replace("A demo", "Ein D\u00e9mo"), "latin1")),
      "demo/pack.yaml is not UTF-8 text (line 6)"
    ],
    [
      "a file that is too large",
      (root) => writeFileSync(`${root}${SCENARIO}`, "#".repeat(MAX_FILE_MIB * 1024 * 1024 + 1)),
      `demo/scenarios/one/1.0.0/scenario.yaml is larger than ${MAX_FILE_MIB} MiB`
    ],
    [
      "a pipe, which would never end",
      (root) => {
        execFileSync("mkfifo", [`${root}/packs/demo/pipe.yaml`])
        writeFileSync(`${root}${SCENARIO}`, scenarioYaml({ launch: "contextTemplate: !include ../../../pipe.yaml" }))
      },
      "demo/pipe.yaml is not a regular file"
    ],
    [
      "a pack that is a link out of the directory",
      (root) => symlinkSync(`${root}/outside`, `${root}/packs/linked`),
      "linked/pack.yaml lies outside PACKS_DIR"
    ],
    [
      "scenarios that are a link out of the directory",
      (root) => {
        mkdirSync(`${root}/packs/second`)
        writeFileSync(`${root}/packs/second/pack.yaml`, packYaml({ slug: "second" }))
        symlinkSync(`${root}/outside/scenarios`, `${root}/packs/second/scenarios`)
      },
      "second/scenarios/one/1.0.0/scenario.yaml lies outside PACKS_DIR"
    ],
    [
      "values that are nested too deeply through includes",
      (root) => {
        const deep = (inner: string) => `${"{a: ".repeat(40)}${inner}${"}".repeat(40)}`
        writeFileSync(`${root}${SCENARIO}`, scenarioYaml({ launch: `contextTemplate: ${deep("!include ./d.yaml")}` }))
        writeFileSync(`${root}/packs/demo/scenarios/one/1.0.0/d.yaml`, deep("1"))
      },
      "values nested deeper than 64 levels in demo/scenarios/one/1.0.0/d.yaml"
    ],
    [
      "a hundred thousand open brackets",
      (root) => writeFileSync(`${root}${SCENARIO}`, "[".repeat(100_000)),
      "invalid YAML in demo/scenarios/one/1.0.0/scenario.yaml: nesting exceeded maxDepth (100) (line 1)"
    ],
    [
      "a wrong value, with its line",
      (root) => writeFileSync(`${root}${SCENARIO}`, scenarioYaml().replace("60000", "soon")),
      "invalid spec.launch.ttlMs in demo/scenarios/one/1.0.0/scenario.yaml: Expected number (line 14)"
    ]
  ])("are refused as %s", ([, change, message]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(loaded(change))
      assert.strictEqual(error._tag === "InvalidPackData" ? error.message : String(error), message)
    }).pipe(Effect.scoped)
  )

  it.effect("leave out a pack whose file is a link to itself, and serve the others", () =>
    Effect.gen(function* () {
      const packs = yield* loaded((root) => {
        mkdirSync(`${root}/packs/looped`)
        symlinkSync("pack.yaml", `${root}/packs/looped/pack.yaml`)
      })
      assert.deepStrictEqual(packs, demo)
    }).pipe(Effect.scoped)
  )

  it.effect("leave out only unreadable files, with a warning", () =>
    Effect.gen(function* () {
      const root = yield* makeTree({
        ...smallPack(),
        "/packs/demo/scenarios/one/2.0.0/templates/good.yaml": templateYaml("good")
      })
      const one = `${root}/packs/demo/scenarios/one`
      // The tests may run as root, who may read everything: a link to itself cannot be read.
      const loop = (path: string) => symlinkSync(path.slice(path.lastIndexOf("/") + 1), path)
      writeFileSync(`${one}/2.0.0/scenario.yaml`, scenarioYaml())
      loop(`${one}/2.0.0/templates/loop.yaml`)
      mkdirSync(`${one}/2.0.0/templates/sub.yaml`)
      for (const version of ["3.0.0", "4.0.0"]) mkdirSync(`${one}/${version}`)
      loop(`${one}/3.0.0/scenario.yaml`)
      mkdirSync(`${one}/4.0.0/scenario.yaml`)
      const { catalog, warnings } = yield* load(root)
      const [scenario] = catalog.packs[0]?.scenarios ?? []
      assert.deepStrictEqual(
        scenario?.versions.map(({ templates, version }) => [version, templates.map(({ slug }) => slug)]),
        [
          ["1.0.0", []],
          ["2.0.0", ["good"]]
        ]
      )
      const folder = "demo/scenarios/one"
      const loopError = catalog.unreadable.map((text) => text.replace(/: \w+$/, ""))
      assert.sameMembers(loopError, [
        `${folder}/2.0.0/templates/loop.yaml cannot be read`,
        `${folder}/3.0.0/scenario.yaml cannot be read`,
        `${folder}/4.0.0/scenario.yaml is not a regular file`
      ])
      assert.includeMembers(
        [...warnings],
        [
          `${folder}/4.0.0/scenario.yaml is not a regular file: the version is left out`,
          `${folder}/2.0.0/templates/sub.yaml left out: it is a folder`
        ]
      )
    }).pipe(Effect.scoped)
  )
})
