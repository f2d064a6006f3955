import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { readTurns, turnFaults } from "@runplane/domain"
import { PROJECT_FOLDER } from "@runplane/server"
import * as Result from "effect/Result"
import { load } from "js-yaml"

describe("the example of docs/reference/a2a.md", () => {
  it("has rules of turns that a launch takes", () => {
    const text = readFileSync(join(PROJECT_FOLDER, "docs/reference/a2a.md"), "utf8")
    const block = /^ {4}a2a:\n(?: {4}.*\n)+/m.exec(text)?.[0] ?? ""
    const read = load(block.replaceAll(/^ {4}/gm, ""))
    const turns = readTurns(typeof read === "object" && read !== null && "a2a" in read ? read.a2a : undefined)
    assert.isTrue(Result.isSuccess(turns))
    const faults = turnFaults(Result.getOrThrow(turns), {
      ...{ modeName: "macp.mode.decision.v1", ttlMs: 600_000, initiator: "lead", participants: ["lead", "risk"] },
      ...{ agents: ["risk"], policy: undefined }
    })
    assert.deepStrictEqual(faults, [])
  })
})
