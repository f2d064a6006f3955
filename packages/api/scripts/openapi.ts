import { mkdirSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { openApiDocuments } from "../document/OpenApiDocuments.ts"

/** Writes the OpenAPI documents to `packages/api/openapi`, or to the folder given as the argument. */
const folder = process.argv[2] ?? fileURLToPath(new URL("../openapi", import.meta.url))
mkdirSync(folder, { recursive: true })
for (const [name, text] of Object.entries(openApiDocuments())) writeFileSync(`${folder}/${name}`, text)
