// Makes a folder with the programs as they are shipped, and all that they need but Node:
//
//   node scripts/run.mjs bundle:all [FOLDER]     (npm run bundle; dist/programs)
//   FOLDER/lib/control-plane.js, launcher.js, sandbox.js, all-in-one.js, runplane.js
//
// --with NAME=FILE bundles one more program of this project with them, --no-database leaves the embedded PostgreSQL
// out.
import { existsSync, readdirSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { addDatabase, PROGRAMS, writePrograms } from "./build/programs.mjs"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { with: { type: "string", multiple: true, default: [] }, "no-database": { type: "boolean", default: false } }
})
const folder = resolve(positionals[0] ?? join(root, "dist/programs"))

// It is emptied first.
if (existsSync(folder) && readdirSync(folder).length > 0 && !existsSync(join(folder, "lib/LICENSES.txt"))) {
  console.error(`${folder} holds something else; name a new folder, or one that was made so before`)
  process.exit(1)
}
const further = Object.fromEntries(values.with.map((pair) => pair.split("=", 2)))
await writePrograms(folder, { ...PROGRAMS, ...further })
if (!values["no-database"]) addDatabase(folder)
console.log(folder)
