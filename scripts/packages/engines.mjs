// The packed packages on the other programs that run JavaScript: older and newer Nodes, Bun and Deno.
import { existsSync, readFileSync, realpathSync } from "node:fs"
import { join } from "node:path"
import { install, run, say, step } from "./support.mjs"

const system = `${process.platform}-${process.arch}`

/** Programs that npm has as packages, and their files; others are not there for this platform. */
const CLIENT_ENGINES = {
  "Node 20": { name: `node-${system}`, version: "20.19.0", file: "bin/node" },
  "Node 22": { name: `node-${system}`, version: "22.19.0", file: "bin/node" },
  "Node 24": { name: `node-${system}`, version: "24.21.0", file: "bin/node" },
  Bun: { name: `@oven/bun-${system}`, version: "1.4.5", file: "bin/bun" },
  Deno: { name: `@deno/${system}-glibc`, version: "2.9.6", file: "deno", args: ["run", "--allow-net", "--allow-env"] }
}

/** The oldest Node of the services, and the one of the lockfile. */
const SERVICE_ENGINES = ["Node 22", "Node 24"]

const EXAMPLE = "index.mjs"

/**
 * Runs the lines of the client's document, which are in `caller`, and the command line `bin`, on each program. One that
 * npm does not have for this platform is named.
 */
export const testEngines = ({ bin, caller, env, project }) => {
  for (const [label, { args = [], file, name, version }] of Object.entries(CLIENT_ENGINES)) {
    step(`installing ${label}`)
    const folder = project(`engine-${label.toLowerCase().replace(" ", "-")}`)
    try {
      install(folder, env, "--ignore-scripts", `${name}@${version}`)
    } catch (error) {
      if (!/E404|EBADPLATFORM|ETARGET/.test(error.message)) throw error
      console.log(`--  ${label}: npm has no ${name}@${version}, it is not tested`)
      continue
    }
    const program = join(folder, "node_modules", name, file)
    if (!existsSync(program)) throw new Error(`${name}@${version} has no ${file}`)
    step(`the client on ${label}`)
    const { stdout } = run(program, [...args, EXAMPLE], { cwd: caller, env })
    if (!stdout.includes("decision.selected")) throw new Error(`${label} printed: ${stdout}`)
    say(`@runplane/client follows a run to its decision on ${label} (${version})`)
    if (!SERVICE_ENGINES.includes(label)) continue
    const { version: own } = JSON.parse(readFileSync(join(realpathSync(bin), "../../package.json"), "utf8"))
    const printed = run(program, [realpathSync(bin), "--version"], { cwd: caller, env }).stdout.trim()
    if (printed !== `runplane v${own}`) throw new Error(`runplane --version on ${label}: ${printed}`)
    run(program, [realpathSync(bin), "runs", "list"], { cwd: caller, env })
    say(`runplane lists runs on ${label} (${version})`)
  }
}
