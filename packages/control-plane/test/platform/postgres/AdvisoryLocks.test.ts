import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, it } from "@effect/vitest"
import { PROJECT_FOLDER } from "@runplane/server"
import { APPEND_LOCKS, TALLY_LOCK } from "../../../src/platform/postgres/AdvisoryLocks.ts"

it("knows the advisory locks of the schema", () => {
  const schema = readFileSync(join(PROJECT_FOLDER, "migrations", "0001_schema.sql"), "utf8")
  const numbers = [...schema.matchAll(/\b7\d{6}\b/g)].map(([text]) => Number(text))
  assert.deepStrictEqual(
    [...new Set(numbers)].sort((a, b) => a - b),
    [TALLY_LOCK, APPEND_LOCKS]
  )
})
