// Writes every generated file of the repository. With --check it writes nothing: it generates into a temporary folder,
// compares, names the files that are out of date and exits 1.
import { spawnSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join, relative, sep } from "node:path"
import { fileURLToPath } from "node:url"
import { readmes } from "../packages/checks/src/index.ts"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const windows = process.platform === "win32"

// One entry for each generator: `output` is the file or folder it owns (everything in it is generated), `write(target)`
// produces the whole of it at `target`, which does not exist yet. A generator of several files has `outputs` instead,
// and produces each below `target`.
const generators = [
  protobuf("packages/runtime", "src/gen"),
  protobuf("packages/otlp", "test/gen"),
  {
    name: "openapi",
    output: "packages/api/openapi",
    write: (target) => {
      mkdirSync(target, { recursive: true })
      run("node", ["scripts/openapi.ts", target], join(root, "packages/api"))
    }
  },
  {
    name: "settings",
    output: "docs/reference/settings.md",
    write: (target) => run("node", ["scripts/settings.ts", target], join(root, "packages/server"))
  },
  {
    name: "schema of the bootstrap file",
    output: "docs/reference/bootstrap.schema.json",
    write: (target) => run("node", ["scripts/bootstrapSchema.ts", target], join(root, "packages/launcher"))
  },
  {
    name: "erasable members",
    output: "docs/reference/erasable.json",
    write: (target) => run("node", ["scripts/erasable.ts", target], join(root, "packages/domain"))
  },
  {
    name: "client in Python",
    output: "packages/python/src/runplane/gen",
    write: (target) => run("node", ["scripts/client.mjs", target], join(root, "packages/python"))
  },
  evidenceTexts(),
  folderLists()
]

const check = process.argv.includes("--check")
const stale = []
for (const generator of generators) {
  const work = mkdtempSync(join(tmpdir(), "runplane-generate-"))
  try {
    const fresh = join(work, "output")
    generator.write(fresh)
    const changed = []
    for (const output of generator.outputs ?? [generator.output]) {
      const made = generator.outputs === undefined ? fresh : join(fresh, output)
      const files = differences(made, join(root, output)).map((file) => join(output, file))
      if (!check && files.length > 0) replace(made, join(root, output))
      changed.push(...files)
    }
    stale.push(...changed)
    console.log(`${generator.name}: ${changed.length === 0 ? "up to date" : `${changed.length} file(s) changed`}`)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}
if (check && stale.length > 0) {
  console.error(`out of date, run the script "generate":\n${stale.map((file) => `  ${file}`).join("\n")}`)
  process.exitCode = 1
}

/** The messages of a package's `buf.gen.yaml`, which writes to `folder`; --output moves that to another base folder. */
function protobuf(home, folder) {
  return {
    name: `protobuf of ${home}`,
    output: `${home}/${folder}`,
    write: (target) => {
      const base = mkdtempSync(join(tmpdir(), "runplane-buf-"))
      try {
        run("buf", ["generate", "--output", base], join(root, home))
        cpSync(join(base, folder), target, { recursive: true })
      } finally {
        rmSync(base, { recursive: true, force: true })
      }
    }
  }
}

/** The files that each evidence bundle has besides its data, as texts of the program: a bundled one has no files. */
function evidenceTexts() {
  const texts = {
    ERASABLE_JSON: "docs/reference/erasable.json",
    VERIFY_MD: "packages/verify/VERIFY.md",
    VERIFY_PY: "packages/verify/verify.py",
    PASSKEYS_PY: "packages/verify/passkeys.py"
  }
  return {
    name: "texts of evidence bundles",
    output: "packages/control-plane/src/features/evidence/gen",
    write: (target) => {
      mkdirSync(target, { recursive: true })
      const constants = Object.entries(texts).map(([name, file]) => {
        const text = readFileSync(join(root, file), "utf8").replaceAll("\r\n", "\n")
        return `/** ${file} */\nexport const ${name} = ${JSON.stringify(text)}\n`
      })
      writeFileSync(join(target, "EvidenceTexts.ts"), `// Made by npm run generate.\n${constants.join("\n")}`)
    }
  }
}

/** The READMEs of packages, with the declared folders between their marks. */
function folderLists() {
  const texts = readmes()
  return {
    name: "folders in the READMEs of packages",
    outputs: [...texts.keys()],
    write: (target) => {
      for (const [file, text] of texts) {
        mkdirSync(join(target, dirname(file)), { recursive: true })
        writeFileSync(join(target, file), text)
      }
    }
  }
}

function run(command, args, cwd) {
  const path = [join(cwd, "node_modules/.bin"), join(root, "node_modules/.bin"), process.env.PATH].join(delimiter)
  const result = spawnSync(command, args, {
    cwd,
    env: { ...process.env, PATH: path },
    shell: windows,
    stdio: ["ignore", "inherit", "inherit"]
  })
  if (result.error) throw result.error
  if (result.status !== 0) throw new Error(`${command} ${args.join(" ")} failed with exit code ${result.status}`)
}

function replace(from, to) {
  rmSync(to, { recursive: true, force: true })
  mkdirSync(dirname(to), { recursive: true })
  cpSync(from, to, { recursive: true })
}

/** Paths that are missing on one side or differ, relative to the two; "" when the two are single files. */
function differences(fresh, current) {
  const left = contents(fresh)
  const right = contents(current)
  return [...new Set([...left.keys(), ...right.keys()])]
    .filter((file) => left.get(file) !== right.get(file))
    .sort((a, b) => (a < b ? -1 : 1))
}

function contents(path) {
  const files = new Map()
  const visit = (at) => {
    if (!existsSync(at)) return
    const entries = readEntries(at)
    if (entries === undefined) files.set(relative(path, at).split(sep).join("/"), normalise(readFileSync(at, "utf8")))
    else for (const entry of entries) visit(join(at, entry))
  }
  visit(path)
  return files
}

function readEntries(path) {
  try {
    return readdirSync(path)
  } catch (error) {
    if (error.code === "ENOTDIR") return undefined
    throw error
  }
}

// A checkout may have other line ends than the generator wrote.
function normalise(text) {
  return text.replaceAll("\r\n", "\n")
}
