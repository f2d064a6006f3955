// A pack of an author who has nothing but the package `runplane`, as docs/reference/packs.md shows it: made, checked,
// launched and shared, with the commands as they are printed there, in empty folders.
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync } from "node:fs"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { blocksUnder } from "./pages.mjs"
import { install, run, say, startStack, step } from "./support.mjs"

const DOCUMENT = "docs/reference/packs.md"

/** The blocks under a heading, each as one script. */
const scriptsUnder = (heading) => blocksUnder(DOCUMENT, heading).map((lines) => lines.join("\n"))

/** The end of a stack on a busy machine. Milliseconds. */
const END_LIMIT = 30_000

const DEV = /^(.*)npx runplane dev$/m

/** Starts the stack as the block says; answers it with the addresses for the client. */
const startDev = async (block, cwd, env) => {
  const { ports, stack, output } = await startStack("sh", ["-c", `exec env ${DEV.exec(block)[0]}`], cwd, env)
  const addresses = {
    RUNPLANE_URL: `http://127.0.0.1:${ports.CONTROL_PLANE_PORT}`,
    RUNPLANE_LAUNCHER_URL: `http://127.0.0.1:${ports.LAUNCHER_PORT}`
  }
  return { addresses, stack, output }
}

/** Ends npx alone, as a supervisor does; the services have ended when all of them have closed its output. */
const endOf = async (stack) => {
  const late = setTimeout(END_LIMIT, "late", { ref: false })
  if ((await Promise.race([stack.stop("SIGTERM"), late])) === "late")
    throw new Error(`the services still run ${END_LIMIT} ms after the end of npx`)
}

/** Starts the stack of a folder, launches the scenario of the page in it, and stops it. */
const launches = async (block, launch, cwd, env) => {
  const { addresses, stack, output } = await startDev(block, cwd, env)
  try {
    if (!output.includes("No example run: the packs do not hold")) throw new Error(`other packs are served:\n${output}`)
    const { stdout } = run("sh", ["-ec", launch], { cwd, env: { ...env, ...addresses } })
    // The agents of the panel have opinions: either outcome is one.
    if (!/commits (an approval|a decline)/.test(stdout) || !/ run +is completed/.test(stdout)) throw new Error(stdout)
  } catch (error) {
    console.error(`\nThe stack said last:\n${stack.text().slice(-3000)}`)
    throw error
  } finally {
    await endOf(stack)
    const data = join(cwd, ".data/postgres")
    // Root's database lives elsewhere, with a link to it.
    if (existsSync(data)) rmSync(realpathSync(data), { recursive: true, force: true })
  }
}

/** Runs every command of the section in an author's folder, and in a reader's; `archive` is the packed package. */
export const testPacksOfAnAuthor = async ({ archive, env: given, folder }) => {
  step("packs with nothing but npm")
  const [home, prefix, reader] = ["home", "prefix", "reader"].map((name) => join(folder, name))
  for (const path of [home, prefix, reader]) mkdirSync(path, { recursive: true })
  const names = Object.fromEntries(["AUTHOR", "COMMITTER"].map((who) => [`GIT_${who}_NAME`, "Author"]))
  const mails = Object.fromEntries(["AUTHOR", "COMMITTER"].map((who) => [`GIT_${who}_EMAIL`, "author@example.org"]))
  const { PACKS_DIR: _, RUNPLANE_DATA_DIR: __, ...others } = given
  const env = { ...others, ...names, ...mails, HOME: home, npm_config_prefix: prefix }
  install(folder, env, "--global", archive)
  const inFolder = (cwd, script) => run("sh", ["-ec", script], { cwd, env })

  const [make, ...copies] = scriptsUnder("make")
  inFolder(folder, make)
  const author = join(folder, "team-packs")
  for (const script of copies) inFolder(author, script)
  const clean = /^scenario:lint {2}1 pack\(s\) — 0 error\(s\), 0 warning\(s\)$/m
  const linted = inFolder(author, "npx runplane packs lint").stdout
  if (!clean.test(linted)) throw new Error(linted)
  say("packs are made and checked in an empty folder, with the agents, policies and parts that they need")

  const [dev, launch] = scriptsUnder("launch")
  await launches(dev, launch, author, env)
  say("npx runplane dev serves the packs of its folder, and a scenario of them is decided")

  const [git, archived, installed, merged] = scriptsUnder("share")
  inFolder(author, git)
  const committed = inFolder(author, "git ls-files").stdout
  if (!committed.includes("packs/_agents/manifests/panel-agent.json") || committed.includes(".data"))
    throw new Error(`git has other files:\n${committed}`)
  inFolder(author, archived)
  inFolder(reader, installed.replace(DEV, ""))
  await launches(installed, launch, reader, env)
  inFolder(reader, merged)
  if (
    readFileSync(join(reader, "packs/my-team/pack.yaml"), "utf8") !==
    readFileSync(join(author, "packs/my-team/pack.yaml"), "utf8")
  )
    throw new Error("the reader's copy differs")
  say("packs are shared in git and as an npm package, and a reader checks and launches them")
}
