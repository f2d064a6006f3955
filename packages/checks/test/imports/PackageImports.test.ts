import { assert, describe, it } from "@effect/vitest"
import { ARROWS } from "../../src/declaration/Packages.ts"
import { importsOf } from "../../src/imports/Imports.ts"
import { violations } from "../../src/imports/PackageImports.ts"
import type { PackageSources } from "../../src/Workspace.ts"

const everything = new Set(["effect", "@effect/platform-node", "@effect/sql-pg", ...Object.keys(ARROWS).map(scoped)])

function scoped(name: string) {
  return `@runplane/${name}`
}

/** A package with one file that imports one module. */
const sample = (name: string, path: string, specifier: string): PackageSources => ({
  name,
  dependencies: everything,
  testDependencies: new Set([...everything, "vitest"]),
  files: [{ path, text: `import * as Thing from "${specifier}"\n` }]
})

const problemOf = (name: string, path: string, specifier: string) => {
  const [line = ""] = violations(sample(name, path, specifier))
  return line.slice(line.lastIndexOf(": ") + 2)
}

const SEATS_ALONE = "only the control plane, and seats and tasks of the launch service have a database"

describe("the import checker", () => {
  it.each([
    ["domain", "src/A.ts", scoped("api"), "domain must not know api"],
    ["api", "src/A.ts", scoped("control-plane"), "api must not know control-plane"],
    ["control-plane", "src/A.ts", scoped("sandbox"), "control-plane must not know sandbox"],
    ["control-plane", "test/A.test.ts", scoped("launcher"), "control-plane must not know launcher"],
    ["launcher", "src/A.ts", scoped("control-plane"), "launcher must not know control-plane"],
    ["agents", "src/A.ts", scoped("sandbox"), "agents must not know sandbox"],
    ["launcher", "src/A.ts", scoped("stack"), "launcher must not know stack"],
    ["api", "src/A.ts", `${scoped("domain")}/Ids`, "packages are imported by their name alone"],
    ["control-plane", "src/A.ts", `${scoped("runtime")}/testing`, "only tests and the bench load test doubles"],
    ["api", "test/A.test.ts", `${scoped("runtime")}/testing`, "api must not know runtime"],
    ["runtime", "src/A.ts", "./testing/Fake.ts", "only tests and the bench load test doubles"],
    ["api", "src/A.ts", scoped("api"), "a package does not import itself by name"],
    ["api", "src/a/A.ts", "../../../domain/src/Ids.ts", "relative imports stay within the package"],
    ["api", "test/A.test.ts", "../../domain/src/values/Ids.ts", "relative imports stay within the package"],
    ["api", "src/A.ts", "../test/Helper.ts", "sources do not import tests or tools"],
    ["api", "src/A.ts", "node:fs", "it must run without Node"],
    ["api", "src/A.ts", "fs/promises", "it must run without Node"],
    ["domain", "src/A.ts", "@effect/platform-node/NodeHttpServer", "it must run without Node"],
    ["domain", "src/A.ts", "effect/http", "the domain is pure"],
    ["domain", "src/A.ts", "effect/sql/SqlClient", "the domain is pure"],
    ["launcher", "src/A.ts", "@effect/sql-pg/PgClient", SEATS_ALONE],
    ["agents", "src/people/A.ts", "effect/sql/SqlClient", SEATS_ALONE],
    ["runtime", "src/A.ts", "fs", "modules of Node are named node:*"],
    ["runtime", "src/A.ts", "vitest", "not in package.json"],
    ["stack", "src/A.ts", "left-pad", "not in package.json"]
  ])("refuses in %s %s an import of %s", (name, path, specifier, expected) => {
    assert.strictEqual(problemOf(name, path, specifier), expected)
  })

  it("refuses a clock and randomness in the domain", () => {
    assert.lengthOf(violations(sample("domain", "src/A.ts", "effect/Clock")), 1)
    assert.lengthOf(violations(sample("domain", "src/A.ts", "effect/Random")), 1)
  })

  it.each([
    ["domain", "src/A.ts", "effect/Schema"],
    ["domain", "src/A.ts", "effect/encoding/Base64"],
    ["domain", "test/A.test.ts", "node:fs"],
    ["api", "src/a/A.ts", "../b/B.ts"],
    ["api", "src/A.ts", "effect/http-api"],
    ["control-plane", "src/A.ts", "@effect/sql-pg/PgClient"],
    ["launcher", "src/people/A.ts", "@effect/sql-pg/PgClient"],
    ["agents", "test/A.test.ts", scoped("sandbox")],
    ["control-plane", "test/A.test.ts", "../src/A.ts"],
    ["runtime", "test/A.test.ts", "vitest"],
    ["runtime", "test/A.test.ts", scoped("runtime")],
    ["control-plane", "test/A.test.ts", `${scoped("runtime")}/testing`],
    ["runtime", "test/A.test.ts", `${scoped("runtime")}/testing`],
    ["runtime", "src/testing/A.ts", "./B.ts"],
    ["server", "src/A.ts", `${scoped("api")}/openapi/launcher.json`],
    ["bench", "src/A.ts", `${scoped("runtime")}/testing`],
    ["bench", "src/A.ts", scoped("stack")]
  ])("allows in %s %s an import of %s", (name, path, specifier) => {
    assert.deepStrictEqual(violations(sample(name, path, specifier)), [])
  })

  it("names file and module", () => {
    assert.deepStrictEqual(violations(sample("domain", "src/deep/A.ts", scoped("api"))), [
      'packages/domain/src/deep/A.ts imports "@runplane/api": domain must not know api'
    ])
  })

  it("finds every form of import and nothing in comments", () => {
    // Taken apart, or this file would be found to import them.
    const call = (name: string) => `("${name}")`
    const lines = [
      'import "one"',
      'import two from "two"',
      "import {",
      "  a,",
      "  type B",
      "} from 'three'",
      'import type { C } from "four"',
      'export * from "five"',
      'export * as six from "six"',
      'export { d } from "seven"',
      `const lazy = await import${call("eight")}`,
      `const old = require${call("nine")}`,
      `type T = import${call("ten")}.T`,
      '// import "eleven"',
      '/* import "twelve" */',
      'export const text = "thirteen"'
    ]
    assert.deepStrictEqual(
      [...importsOf(lines.join("\n"))].toSorted(),
      ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"].toSorted()
    )
  })
})
