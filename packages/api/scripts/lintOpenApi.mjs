// Lints the committed OpenAPI documents by the rules of redocly.yaml. Works without a network: the documents refer to
// nothing outside of themselves. Exits 1 on any problem, warnings included.
import { readdirSync } from "node:fs"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { formatProblems, getTotals, lint, loadConfig } from "@redocly/openapi-core"

const root = fileURLToPath(new URL("..", import.meta.url))
const config = await loadConfig({ configPath: join(root, "redocly.yaml") })

let total = 0
for (const name of readdirSync(join(root, "openapi"))) {
  const ref = join(root, "openapi", name)
  const problems = (await lint({ ref, config })).filter((problem) => !problem.ignored)
  total += problems.length
  if (problems.length > 0) formatProblems(problems, { format: "stylish", totals: getTotals(problems), version: "" })
  console.log(`${relative(root, ref)}: ${problems.length === 0 ? "no problems" : `${problems.length} problems`}`)
}
if (total > 0) process.exitCode = 1
