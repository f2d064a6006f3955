// Generates the clients in Java and Go as docs/reference/clients.md shows, compiles all of them, and runs the programs
// of that page against services on this machine.
//
//   npm run test:clients
//
// Exit code 77: this machine has neither Java with Maven nor Go, or cannot install what they need.
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { blocksUnder } from "./packages/pages.mjs"
import { example, explain, root, run, say, startStack, step } from "./packages/support.mjs"

const PAGE = "docs/reference/clients.md"
const GENERATOR = "7.25.0"
const DOCUMENTS = ["control-plane", "launcher"]
const CANNOT_RUN = 77

const tools = join(root, ".tools", `openapi-generator-${GENERATOR}`)
const jar = join(tools, `openapi-generator-cli-${GENERATOR}.jar`)
const folder = realpathSync(mkdtempSync(join(tmpdir(), "runplane-clients-")))
// The server of PostgreSQL may run as another user.
chmodSync(folder, 0o755)
/** The generator under the name that the page has for it. */
const bin = join(folder, "bin")
const env = {
  ...process.env,
  PATH: [bin, process.env.PATH].join(delimiter),
  // The Go of this machine, and no other one.
  GOTOOLCHAIN: "local",
  GOFLAGS: "-mod=mod"
}

const maven = (cwd, ...args) => run("mvn", ["--quiet", "--batch-mode", "--no-transfer-progress", ...args], { cwd, env })

/** The message of the error that a function throws. */
const failureOf = (action) => {
  try {
    action()
    return undefined
  } catch (error) {
    return error.message
  }
}

/** What this machine lacks for the generator, if anything. */
const missingGenerator = () =>
  failureOf(() => {
    run("java", ["-version"])
    if (!existsSync(jar)) {
      mkdirSync(tools, { recursive: true })
      const artifact = `org.openapitools:openapi-generator-cli:${GENERATOR}`
      maven(tools, "dependency:copy", `-Dartifact=${artifact}`, `-DoutputDirectory=${tools}`)
    }
    mkdirSync(bin)
    writeFileSync(join(bin, "openapi-generator-cli"), `#!/bin/sh\nexec java -jar "${jar}" "$@"\n`, { mode: 0o755 })
  })

/** A folder with the clients of both documents, made by the commands of the page. */
const generated = (language) => {
  const home = join(folder, language)
  mkdirSync(home)
  for (const name of DOCUMENTS) {
    cpSync(join(root, "packages/api/openapi", `${name}.json`), join(home, `${name}.json`))
  }
  const [commands] = blocksUnder(PAGE, language)
  run("bash", ["-ec", commands.join("\n")], { cwd: home, env })
  return home
}

/** A program of the page, with the addresses of these services. */
const programOf = (language, marker, ports) =>
  example(PAGE, language, marker)
    .replace("http://127.0.0.1:3000", `http://127.0.0.1:${ports.LAUNCHER_PORT}`)
    .replace("http://127.0.0.1:3001", `http://127.0.0.1:${ports.CONTROL_PLANE_PORT}`)

const mustDecide = (language, { stdout }) => {
  if (!stdout.includes("decision.selected")) throw new Error(`the client in ${language} printed: ${stdout}`)
  say(`the clients in ${language} compile, make a run and read its decision and its events`)
}

const testJava = (ports) => {
  step("generating and running the clients in Java")
  const home = generated("Java")
  const paths = DOCUMENTS.map((name) => {
    const project = join(home, name)
    maven(project, "compile", "dependency:build-classpath", "-Dmdep.outputFile=classpath")
    return `${project}/target/classes:$(cat ${project}/classpath)`
  })
  writeFileSync(join(home, "Decide.java"), programOf("java", "import", ports))
  mustDecide("Java", run("bash", ["-ec", `java -cp "${paths.join(":")}" Decide.java`], { cwd: home, env }))
}

/** What this machine lacks for clients in Go, if anything. */
const missingGo = () => failureOf(() => run("go", ["version"], { env }))

const testGo = (ports) => {
  step("generating and running the clients in Go")
  const home = generated("Go")
  const program = join(home, "decide")
  mkdirSync(program)
  writeFileSync(join(program, "go.mod"), "module example.org/decide\n\ngo 1.23\n")
  writeFileSync(join(program, "main.go"), programOf("go", "package main", ports))
  const inWorkspace = { cwd: home, env: { ...env, GOFLAGS: "" } }
  run("go", ["work", "init", ...[...DOCUMENTS, "decide"].map((name) => `./${name}`)], inWorkspace)
  mustDecide("Go", run("go", ["run", "./decide"], inWorkspace))
}

let stack
try {
  step("installing the generator")
  const noGenerator = missingGenerator()
  if (noGenerator !== undefined) {
    console.error(`clients: openapi-generator ${GENERATOR} needs Java with Maven: ${noGenerator}`)
    rmSync(folder, { recursive: true, force: true })
    process.exit(CANNOT_RUN)
  }
  const noGo = missingGo()
  step("starting the services")
  const settings = { ...process.env, RUNPLANE_DATA_DIR: join(folder, "data"), LOG_LEVEL: "error" }
  const started = await startStack("node", ["packages/stack/src/main.ts", "--no-demo"], root, settings)
  stack = started.stack
  testJava(started.ports)
  if (noGo === undefined) testGo(started.ports)
  else console.log(`--  left out: Go: ${noGo}`)
} catch (error) {
  explain(error)
  process.exitCode = 1
} finally {
  await stack?.stop()
  rmSync(folder, { recursive: true, force: true })
}
