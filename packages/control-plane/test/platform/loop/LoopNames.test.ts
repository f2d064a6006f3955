import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, it } from "@effect/vitest"
import { LOOP_NAMES } from "../../../src/platform/loop/LoopNames.ts"

const OPERATIONS = join(import.meta.dirname, "../../../../../docs/reference/operations.md")

it("every loop has its row in the documents, in order", () => {
  const [, section = ""] = readFileSync(OPERATIONS, "utf8").split("\n## Loops\n")
  const rows = [
    ...section
      .split("\n## ", 1)
      .join("")
      .matchAll(/^\| `([a-z-]+)` /gm)
  ].map(([, name]) => name)
  assert.deepStrictEqual(rows, [...LOOP_NAMES])
  assert.deepStrictEqual(rows, rows.toSorted())
})
