// Makes the packages that can be installed, each in a folder of dist/, with a package.json without anything of the
// workspace: JavaScript, declarations and source maps, and of `runplane`, which is not imported, the bundle.
//
//   npm run build
import { spawnSync } from "node:child_process"
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { billOf } from "./build/bill.mjs"
import { componentIn } from "./build/components.mjs"
import { operationsModule } from "./build/operations.mjs"
import { EMBEDDED, NODE as SERVICES_NODE, writePrograms } from "./build/programs.mjs"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const dist = join(root, "dist")
const work = join(dist, ".work")
const json = (path) => JSON.parse(readFileSync(path, "utf8"))
const { license, version } = json(join(root, "package.json"))
const catalog = Object.fromEntries(
  [...readFileSync(join(root, "pnpm-workspace.yaml"), "utf8").matchAll(/^ {2}"?([@\w/.-]+)"?: ([\d][\w.-]*)$/gm)].map(
    ([, name, pinned]) => [name, pinned]
  )
)

/** Node of the services and of everything in one; the Promise client runs on older ones. */
const NODE = `>=${SERVICES_NODE.major}.${SERVICES_NODE.minor}`
const CLIENT_NODE = ">=20"

const run = (command, args) => {
  const path = [join(root, "node_modules", ".bin"), process.env.PATH].join(delimiter)
  const result = spawnSync(command, args, { cwd: root, env: { ...process.env, PATH: path }, encoding: "utf8" })
  if (result.status === 0) return
  console.error(result.stdout, result.stderr)
  throw new Error(`${command} ${args.join(" ")} ended with ${result.status ?? result.signal}`)
}

const write = (path, text) => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

const filesOf = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

/** Compiles sources to JavaScript and declarations, whose imports end in `.js` as well. */
const compile = (name, { include, lib, outDir, rootDir, types }) => {
  const config = join(work, `tsconfig.${name}.json`)
  write(
    config,
    JSON.stringify({
      extends: join(root, "tsconfig.json"),
      compilerOptions: {
        noEmit: false,
        incremental: false,
        declaration: true,
        sourceMap: true,
        inlineSources: true,
        rewriteRelativeImportExtensions: true,
        outDir,
        rootDir,
        types,
        typeRoots: [join(root, "node_modules/@types")],
        ...(lib === undefined ? {} : { lib })
      },
      include
    })
  )
  run("tsc", ["-p", config])
  for (const file of filesOf(outDir).filter((path) => path.endsWith(".d.ts"))) {
    const text = readFileSync(file, "utf8")
    writeFileSync(file, text.replace(/((?:from|import\() ?")(\.{1,2}\/[^"]+)\.tsx?"/g, '$1$2.js"'))
  }
}

/** What a package installs beside itself. */
const installed = ({ dependencies = {} }) =>
  Object.keys(dependencies).map((name) => {
    const folder = ["node_modules", "packages/postgres/node_modules"]
      .map((path) => join(root, path, name))
      .find(existsSync)
    return componentIn(folder)
  })

/** Writes its package.json, its licence and its bill of materials; `bundled` is what its files hold of others. */
const manifest = async (folder, { files, ...fields }, bundled = []) => {
  write(
    join(folder, "package.json"),
    `${JSON.stringify(
      {
        version,
        license,
        type: "module",
        repository: { type: "git", url: "git+https://github.com/runplane/runplane.git" },
        publishConfig: { access: "public", provenance: true },
        files: [...files, "sbom.cdx.json"],
        ...fields
      },
      null,
      2
    )}\n`
  )
  copyFileSync(join(root, "LICENSE"), join(folder, "LICENSE"))
  const bill = await billOf({ name: fields.name, version, license }, [...bundled, ...installed(fields)])
  write(join(folder, "sbom.cdx.json"), bill)
}

/**
 * The page of a package on npm, from `build/readme/`. `{{example}}` stands for the lines of docs/reference/clients.md.
 */
const readme = (folder, name) => {
  const text = readFileSync(join(root, "scripts/build/readme", `${name}.md`), "utf8")
  const found = /```ts\n(import \{ createControlPlane[^`]*)```/.exec(
    readFileSync(join(root, "docs/reference/clients.md"), "utf8")
  )
  if (found === null) throw new Error("docs/reference/clients.md shows no example of the client")
  write(
    join(folder, "README.md"),
    text.replace("{{example}}", () => `\`\`\`ts\n${found[1]}\`\`\``)
  )
}

/** The pinned version of each dependency that a package's sources name. */
const pinned = (names) =>
  Object.fromEntries(
    names.map((name) => {
      if (catalog[name] === undefined) throw new Error(`${name} has no version in the catalog`)
      return [name, catalog[name]]
    })
  )

const documents = ["control-plane", "launcher"]
const documentOf = (name) => json(join(root, "packages/api/openapi", `${name}.json`))
const interfaceOf = { "control-plane": "ControlPlaneOperations", launcher: "LauncherOperations" }

rmSync(dist, { recursive: true, force: true })
const DECLARED = ["domain", "api"]
compile("declared", {
  include: DECLARED.map((name) => join(root, "packages", name, "src")),
  outDir: join(work, "packages"),
  rootDir: join(root, "packages"),
  types: ["node"]
})
const compiled = (name) => join(work, "packages", name, "src")

/** What a run is, as pure functions. */
const buildDomain = async () => {
  const folder = join(dist, "domain")
  cpSync(compiled("domain"), join(folder, "lib"), { recursive: true })
  await manifest(folder, {
    name: "@runplane/domain",
    description: "What a run of a multi-agent session is, as pure functions",
    files: ["lib"],
    sideEffects: false,
    engines: { node: NODE },
    exports: { ".": { types: "./lib/index.d.ts", default: "./lib/index.js" } },
    dependencies: pinned(["effect"])
  })
  readme(folder, "domain")
}

/** The Promise client, made for the OpenAPI documents, and the client for users of Effect. */
const buildClient = async () => {
  const folder = join(dist, "client")
  const source = join(work, "client")
  for (const name of documents) {
    write(join(source, `${name}.ts`), operationsModule(documentOf(name), interfaceOf[name]))
  }
  write(join(source, "index.ts"), readFileSync(join(root, "scripts/build/client.ts.txt"), "utf8"))
  copyFileSync(join(root, "packages/api/src/promise/PromiseClient.ts"), join(source, "PromiseClient.ts"))
  compile("client", {
    include: [source],
    lib: ["es2023", "dom", "dom.iterable", "dom.asynciterable"],
    outDir: join(folder, "lib"),
    rootDir: source,
    types: []
  })
  cpSync(compiled("api"), join(folder, "effect"), { recursive: true })
  rmSync(join(folder, "effect/promise"), { recursive: true })
  await manifest(folder, {
    name: "@runplane/client",
    description: "Clients of Runplane: with promises and nothing else, and with Effect",
    files: ["lib", "effect"],
    sideEffects: false,
    engines: { node: CLIENT_NODE },
    exports: {
      ".": { types: "./lib/index.d.ts", default: "./lib/index.js" },
      "./effect": { types: "./effect/index.d.ts", default: "./effect/index.js" }
    },
    peerDependencies: { "@runplane/domain": version, ...pinned(["effect"]) },
    peerDependenciesMeta: { "@runplane/domain": { optional: true }, effect: { optional: true } }
  })
  readme(folder, "client")
}

/** The protobuf files that programs in other languages compile. */
const copyProto = (folder) =>
  cpSync(join(root, "proto"), folder, { recursive: true, filter: (path) => !/\.md$|buf\./.test(path) })

/** The contracts for other languages: OpenAPI documents and protobuf files. */
const buildContracts = async () => {
  const folder = join(dist, "contracts")
  cpSync(join(root, "packages/api/openapi"), join(folder, "openapi"), { recursive: true })
  copyProto(join(folder, "proto"))
  copyFileSync(join(root, "docs/reference/bootstrap.schema.json"), join(folder, "bootstrap.schema.json"))
  await manifest(folder, {
    name: "@runplane/contracts",
    description: "The OpenAPI documents and protobuf files of Runplane",
    files: ["openapi", "proto", "bootstrap.schema.json"],
    exports: {
      "./openapi/*.json": "./openapi/*.json",
      "./proto/*": "./proto/*",
      "./bootstrap.schema.json": "./bootstrap.schema.json"
    }
  })
  readme(folder, "contracts")
}

/** Everything in one: the command line, the services, the sandbox, the packs. */
const buildRunplane = async () => {
  const folder = join(dist, "runplane")
  const bundled = await writePrograms(folder)
  copyProto(join(folder, "proto"))
  const fields = {
    name: "runplane",
    description: "Run control plane and scenario launch service for multi-agent sessions, with their command line",
    bin: { runplane: "bin/runplane.js" },
    files: ["bin", "lib", "packages", "packs", "migrations", "proto"],
    engines: { node: NODE },
    exports: {},
    dependencies: pinned([EMBEDDED])
  }
  await manifest(folder, fields, bundled)
  readme(folder, "runplane")
}

/** The sources of the package for Python, which pip builds: they have the version of all packages. */
const buildPython = () => {
  const folder = join(dist, "python")
  for (const name of ["src", "README.md"]) {
    cpSync(join(root, "packages/python", name), join(folder, name), {
      recursive: true,
      filter: (path) => !/__pycache__/.test(path)
    })
  }
  const project = readFileSync(join(root, "packages/python/pyproject.toml"), "utf8")
  const unversioned = 'version = "0.0.0"'
  if (!project.includes(unversioned)) throw new Error(`packages/python/pyproject.toml has no ${unversioned}`)
  write(join(folder, "pyproject.toml"), project.replace(unversioned, `version = "${version}"`))
  copyFileSync(join(root, "LICENSE"), join(folder, "LICENSE"))
  copyProto(join(folder, "src/runplane/proto"))
}

await buildDomain()
buildPython()
await buildClient()
await buildContracts()
await buildRunplane()
rmSync(work, { recursive: true })
for (const name of readdirSync(dist).sort()) console.log(`dist/${name}`)
