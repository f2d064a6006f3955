// Makes a folder with the programs as they are shipped, and all that they need but Node:
//
//   node scripts/run.mjs bundle:all [FOLDER]     (npm run bundle; dist/programs)
//   FOLDER/lib/control-plane.js, launcher.js, sandbox.js, all-in-one.js, runplane.js
//
// Other programs of this project, without what they find beside them: --only NAME=FILE.
import { dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { addDatabase, bundle, writePrograms } from "./build/programs.mjs"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { only: { type: "string", multiple: true } }
})
const folder = resolve(positionals[0] ?? join(root, "dist/programs"))

if (values.only === undefined) {
  await writePrograms(folder)
  addDatabase(folder)
} else {
  await bundle(folder, Object.fromEntries(values.only.map((pair) => pair.split("=", 2))))
}
console.log(folder)
