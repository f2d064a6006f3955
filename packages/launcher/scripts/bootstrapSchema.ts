import { writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as Schema from "effect/Schema"
import { BootstrapContent } from "../src/agents/BootstrapContent.ts"

/** Writes the JSON Schema of the bootstrap file to `docs/reference`, or to the file given as the argument. */
const { definitions, schema } = Schema.toJsonSchemaDocument(BootstrapContent)
/** Bounds of a double's integers say nothing. */
const meant = (_: string, value: unknown) =>
  typeof value === "number" && Math.abs(value) === Number.MAX_SAFE_INTEGER ? undefined : value
const document = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "The bootstrap file of an agent",
  ...schema,
  ...(Object.keys(definitions).length > 0 && { $defs: definitions })
}
writeFileSync(
  process.argv[2] ?? fileURLToPath(new URL("../../../docs/reference/bootstrap.schema.json", import.meta.url)),
  `${JSON.stringify(document, meant, 2)}\n`
)
