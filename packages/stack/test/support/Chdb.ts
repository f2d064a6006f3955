import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { ROOT } from "./DocumentBlocks.ts"

const PACKAGE = "chdb==4.4.0"
const INSTALL_LIMIT_MS = 240_000

/** ClickHouse in a process of Python: an array of rows for each query of standard input; a NUL separates them. */
const PROGRAM = `
import json, sys
from chdb import session
engine = session.Session()
engine.query("CREATE DATABASE runplane"); engine.query("USE runplane")
answers = []
for text in sys.stdin.read().split("\\0"):
    answer = str(engine.query(text, "JSONCompact"))
    if answer.strip(): answers.append(json.loads(answer)["data"])
print(json.dumps(answers))
`

/** A Python with chdb, which is installed into .tools once; undefined, with a line on stderr, without one. */
export const pythonWithChdb = (): string | undefined => {
  const folder = join(ROOT, ".tools/chdb")
  const python = join(folder, "bin/python")
  const works = () => existsSync(python) && spawnSync(python, ["-c", "import chdb"]).status === 0
  if (works()) return python
  const made = spawnSync("python3", ["-m", "venv", folder], { encoding: "utf8" })
  const installed =
    made.status === 0
      ? spawnSync(join(folder, "bin/pip"), ["install", "--quiet", "--disable-pip-version-check", PACKAGE], {
          encoding: "utf8",
          timeout: INSTALL_LIMIT_MS
        })
      : made
  if (works()) return python
  const why = installed.error?.message ?? installed.stderr.trim()
  process.stderr.write(`left out: ClickHouse, because python3 with ${PACKAGE} of PyPI is not there: ${why}\n`)
  return undefined
}

/** The rows of each query that has an answer, in the order of the queries; values are texts or numbers. */
export const runChdb = (python: string, queries: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<unknown>> => {
  const { error, status, stderr, stdout } = spawnSync(python, ["-c", PROGRAM], {
    input: queries.join("\0"),
    encoding: "utf8"
  })
  if (status !== 0) throw new Error(`chdb: ${error?.message ?? stderr}`)
  return JSON.parse(stdout)
}
