import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { controlPlaneErrorStatus, launcherErrorStatus } from "@runplane/api"
import { RUNTIME_FAILURE_CODES } from "@runplane/domain"
import { ROOT } from "../support/DocumentBlocks.ts"
import { shows, stepsOf } from "../support/GuideRun.ts"

/** The rows of each table whose header begins with `first`; each row has its codes and its second cell. */
const tablesOf = (document: string, first: string) =>
  readFileSync(join(ROOT, document), "utf8")
    .split(new RegExp(`^\\| ${first}.*$`, "m"))
    .slice(1)
    .map((rest) =>
      [...(/^\n((?:\|.*\n)*)/.exec(rest)?.[1] ?? "").matchAll(/^\|([^|]*)\|([^|]*)\|/gm)].flatMap(
        ([, codes = "", second = ""]) =>
          [...codes.matchAll(/`([A-Z_]+)`/g)].map(([, code = ""]) => ({ code, second: second.trim() }))
      )
    )

const sourcesIn = (folder: string) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => readFileSync(join(ROOT, folder, name), "utf8"))

/** The codes that the control plane writes into the record of a failed run. */
const codesOfRuns = () => {
  const sources = ["observe", "runs"].flatMap((folder) => sourcesIn(`packages/control-plane/src/${folder}`))
  const written = sources.flatMap((source) => [...source.matchAll(/errorCode: "([A-Z_]+)"/g)])
  const refusals = sources.flatMap((source) => [
    ...(/^const REFUSALS\b[^{]*\{([^}]*)\}/m.exec(source)?.[1] ?? "").matchAll(/: "([A-Z_]+)"/g)
  ])
  assert.isNotEmpty(refusals)
  return new Set([...written, ...refusals].map(([, code = ""]) => code).concat(RUNTIME_FAILURE_CODES))
}

describe("docs/guides/failed.md", () => {
  const tables = tablesOf("docs/guides/failed.md", "code of").map((rows) => rows.map(({ code }) => code))

  it("has each code of a failed run once", () => {
    assert.sameMembers([...(tables[0] ?? [])], [...codesOfRuns()])
  })

  it("has each code of a launch or of an answer once", () => {
    assert.sameMembers([...(tables[1] ?? []), ...(tables[2] ?? [])], Object.keys(launcherErrorStatus))
  })
})

describe("docs/reference/errors.md", () => {
  const tables = tablesOf("docs/reference/errors.md", "code ")

  it("has each code of the two services once, with its HTTP status", () => {
    for (const [rows, statuses] of [
      [tables[0] ?? [], controlPlaneErrorStatus],
      [tables[2] ?? [], launcherErrorStatus]
    ] as const) {
      assert.sameDeepMembers(
        rows.map(({ code, second }) => [code, second]),
        Object.entries(statuses).map(([code, status]) => [code, `${status}`])
      )
    }
  })

  it("has each code of a failed run once", () => {
    assert.sameMembers(
      (tables[1] ?? []).map(({ code }) => code),
      [...codesOfRuns()]
    )
  })
})

describe("the pages of the HTTP rules", () => {
  const read = (page: string) => readFileSync(join(ROOT, "docs/reference", page), "utf8")
  const [intro = ""] = read("http.md").split(/^## /m)
  const pages = ["http.md", ...[...intro.matchAll(/^- \[[^\]]+\]\((\w+\.md)\)/gm)].map(([, page = ""]) => page)]

  it("list each of their sections at their top", () => {
    const counts = pages
      .filter((page) => page !== "errors.md")
      .map((page) => {
        const [contents = "", ...sections] = read(page).split(/^## /m)
        const titles = sections.flatMap((section) => [
          (section.split("\n")[0] ?? "").trim(),
          ...[...section.matchAll(/^### (.*)$/gm)].map(([, title = ""]) => title)
        ])
        const listed = [...contents.matchAll(/\[([^\]]+)\]\(#/g)].map(([, title = ""]) => title)
        assert.deepStrictEqual(listed, titles, page)
        return titles.length
      })
    assert.lengthOf(counts, 6)
    assert.isAbove(
      counts.reduce((sum, count) => sum + count, 0),
      60
    )
  })
})

describe("the guides", () => {
  const read = (name: string) => readFileSync(join(ROOT, "docs/guides", name), "utf8")
  const guides = readdirSync(join(ROOT, "docs/guides")).filter((name) => /(?<!^README)\.md$/.test(name))

  it("have commands, at most 120 lines, and a line in their index", () => {
    assert.lengthOf(guides, 26)
    for (const guide of guides) {
      assert.isNotEmpty(stepsOf(read(guide)), guide)
      assert.isAtMost(read(guide).trimEnd().split("\n").length, 120, guide)
      assert.include(read("README.md"), `(${guide})`)
    }
  })
})

describe("the reader of guides", () => {
  it("reads a text block directly after the commands as their output", () => {
    const guide = "```sh\na\n```\n\n```text\n1\n```\n\n```sh\nb\n```\n\nWords.\n\n```text\n2\n```\n"
    assert.deepStrictEqual(stepsOf(guide), [
      { script: "a\n", shown: "1\n" },
      { script: "b\n", shown: undefined }
    ])
  })

  it.each([
    [
      "RUN  TOOK\n598e1ab5-b170-471e-924a-aa91fe2065bc  5.9s",
      "RUN TOOK\nf3dff40a-faf6-450d-8288-400ecc0e5bb2  12s\n",
      true
    ],
    ["first\n...\nlast", "first\nlast", true],
    ["first\n...\nlast", "first\n2\n\n3\nlast\n", true],
    ["  Tokens ... in 4 calls", "  Tokens  3,146 in 4 calls\n", true],
    ["first\nlast", "first\n2\nlast\n", false],
    ["Votes 4 for", "Votes 3 for", false],
    ["done", "done\nrunplane: more\n", false],
    ["a.c", "abc", false]
  ])("compares %j with %j", (shown, printed, expected) => {
    assert.strictEqual(shows(shown, printed), expected)
  })
})
