// Makes a folder with the programs as they are shipped, and all that they need but Node:
//
//   npm run bundle -- [FOLDER]     (dist/programs unless given)
//   FOLDER/lib/control-plane.js, launcher.js, sandbox.js, all-in-one.js, runplane.js
//
// --with NAME=FILE bundles one more program of this project with them, --no-database leaves the embedded PostgreSQL
// out, --no-console the web console.
import { existsSync, readdirSync, statSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { addDatabase, PROGRAMS, writePrograms } from "./build/programs.mjs"

const USAGE = "usage: npm run bundle -- [FOLDER] [--with NAME=FILE] [--no-database] [--no-console]"

const root = dirname(dirname(fileURLToPath(import.meta.url)))

const refuse = (reason) => {
  console.error(`${reason}\n${USAGE}`)
  process.exit(2)
}

const read = () => {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        with: { type: "string", multiple: true, default: [] },
        "no-console": { type: "boolean", default: false },
        "no-database": { type: "boolean", default: false }
      }
    })
  } catch (error) {
    return refuse(error.message.split(". ")[0])
  }
}

const { positionals, values } = read()
if (positionals.length > 1) refuse(`one folder at most, not ${positionals.join(" and ")}`)
const folder = resolve(positionals[0] ?? join(root, "dist/programs"))
const further = Object.fromEntries(
  values.with.map((pair) => {
    const [name, file] = pair.split("=", 2)
    if (!name || !file || !existsSync(resolve(root, file))) refuse(`--with ${pair} does not name a file of the project`)
    return [name, file]
  })
)

// It is emptied first.
if (existsSync(folder)) {
  if (!statSync(folder).isDirectory()) refuse(`${folder} is not a folder`)
  if (readdirSync(folder).length > 0 && !existsSync(join(folder, "lib/LICENSES.txt")))
    refuse(`${folder} holds something else; name a new folder, or one that was made so before`)
}
await writePrograms(folder, { programs: { ...PROGRAMS, ...further }, withConsole: !values["no-console"] })
if (!values["no-database"]) addDatabase(folder)
console.log(folder)
