import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import * as Completions from "effect/cli/Completions"
import { runplane } from "../../src/runplane/Commands.ts"
import { blocksOf } from "./DocumentBlocks.ts"

const ROOT = join(import.meta.dirname, "../../../..")
const read = (path: string) => readFileSync(join(ROOT, path), "utf8")

/** The code of a document by line: its blocks, with continued lines joined, and its spans. */
export const codeOf = (document: string, text = read(document)): ReadonlyArray<string> => {
  const blocks = blocksOf(document, text).flatMap(({ lines }) => lines.join("\n").replaceAll(" \\\n", " ").split("\n"))
  const prose = text.replaceAll(/^```[\s\S]*?^```$|^ {4}.*$/gm, "")
  const spans = [...prose.matchAll(/(?<!`)`([^`]+)`(?!`)/g)].map(([, span = ""]) => span.replaceAll(/\s+/g, " "))
  return [...blocks, ...spans].map((line) =>
    line
      .trim()
      .replace(/\s#( .*)?$/, "")
      .trim()
  )
}

/** The commands of a line that belong to this project or to npm, each as its words. */
export const commandsIn = (line: string): ReadonlyArray<ReadonlyArray<string>> =>
  line
    .split(/&&|;|\$\(/)
    .map((part) => part.trim().replace(/^(?:[A-Z][A-Z0-9_]*=(?:'[^']*'|\S)*\s+)*/, ""))
    .filter((part) => /^(?:npm|npx|runplane)(?:\s|$)/.test(part))
    .map((part) => part.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [])

/** Commands of npm that the documents use. */
const NPM = new Set(["init", "install", "pack", "pkg"])
/** Flags of npm and of every command of the project. */
const HELP = new Set(["-h", "--help", "--silent", "--version"])

/** The commands of `npm run`, by task. */
export const tasks = new Map(
  [...read("scripts/tasks.mjs").matchAll(/^ {2}"?([\w:]+)"?: "(.*)",?$/gm)].map(([, name = "", command = ""]) => [
    name,
    command
  ])
)
const checks = new Set([...read("scripts/check.mjs").matchAll(/\{ name: "(\w+)"/g)].map(([, name = ""]) => name))
const table = Completions.fromCommand(runplane)

/** The unknown commands, flags and arguments after `runplane`. */
const faultsOfRunplane = (words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const path = [table]
  let rest = words
  for (;;) {
    const next = path.at(-1)?.subcommands.find(({ name }) => name === rest[0])
    if (next === undefined) break
    path.push(next)
    rest = rest.slice(1)
  }
  const command = path.at(-1) ?? table
  const name = path.map((part) => part.name).join(" ")
  const flags = path.flatMap((part) => part.flags)
  const faults: Array<string> = []
  const given: Array<string> = []
  for (let at = 0; at < rest.length; at++) {
    const [word = "", value] = (rest[at] ?? "").split(/=(.*)/s)
    if (!/^--?[a-z]/.test(word)) {
      given.push(rest[at] ?? "")
      continue
    }
    const flag = flags.find(
      ({ aliases, name, negation }) =>
        [`--${name}`, `--${negation || `no-${name}`}`].includes(word) ||
        aliases.some((alias) => [alias, `-${alias}`].includes(word))
    )
    if (flag === undefined && !HELP.has(word)) faults.push(`${name} has no flag ${word}`)
    if (flag !== undefined && flag.type._tag !== "Boolean" && value === undefined) at += 1
  }
  if (command.subcommands.length > 0 && given.length > 0) return [...faults, `${name} has no command ${given[0]}`]
  const most = command.arguments.some(({ variadic }) => variadic) ? Number.POSITIVE_INFINITY : command.arguments.length
  if (given.length > most) faults.push(`${name} has no argument for ${given.at(most)}`)
  for (const [index, { type }] of command.arguments.entries()) {
    const word = given[index]
    if (word === undefined || type._tag !== "Choice" || type.values.includes(word)) continue
    faults.push(`${name} takes ${type.values.join(", ")}, not ${word}`)
  }
  return faults
}

/** The test files that `npm test -- <part of a path>` selects from. */
const testFiles = readdirSync(join(ROOT, "packages"), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".test.ts") && !path.includes("node_modules"))
  .map((path) => `packages/${path.replaceAll("\\", "/")}`)

/** The unknown arguments after `npm run NAME --`, for scripts that take names of the project. */
const faultsOfScript = (name: string, args: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (name === "runplane") return faultsOfRunplane(args)
  if (name === "packs") return faultsOfRunplane(["packs", ...args])
  if (name === "start") return faultsOfRunplane(["dev", ...args])
  if (name === "check") return args.filter((arg) => !checks.has(arg)).map((arg) => `there is no check ${arg}`)
  if (!/vitest/.test(tasks.get(name) ?? "")) return []
  const end = args.indexOf("-t")
  return args
    .slice(0, end < 0 ? args.length : end)
    .filter((arg) => !testFiles.some((file) => file.includes(arg)))
    .map((arg) => `there is no test ${arg}`)
}

const faultsOfNpm = (words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const [name = "", ...rest] = words.filter((word) => !HELP.has(word) || words.indexOf(word) > words.indexOf("--"))
  const [script = "", ...after] = name === "run" ? rest : [name, ...rest]
  if ((name === "run" && script === "") || (name !== "run" && NPM.has(name))) return []
  if (!tasks.has(script)) return [`npm has no script ${script}`]
  return faultsOfScript(script, after[0] === "--" ? after.slice(1) : [])
}

/** The unknown names in a command. */
export const faultsOfCommand = ([program = "", ...words]: ReadonlyArray<string>): ReadonlyArray<string> => {
  // A usage line has alternatives, optional parts in brackets, and dots for any command.
  const end = words.findIndex((word) => /^(?:\|\|?|&|<.*|\d?>.*|\.\.\.)$/.test(word))
  const args = (end < 0 ? words : words.slice(0, end)).map((word) => word.replaceAll(/^\[|\]$/g, ""))
  if (program === "runplane") return faultsOfRunplane(args)
  if (program === "npm") return faultsOfNpm(args)
  const [name = "", ...rest] = args
  if (name === "runplane") return faultsOfRunplane(rest)
  return [`npx ${name} is not known`]
}

/** The programs of a bundle, in its folder `lib/`. */
const programs = new Set(
  [...read("scripts/build/programs.mjs").matchAll(/^ {2}"?([\w-]+)"?: "packages\/.*\.ts"/gm)].map(
    ([, name = ""]) => `lib/${name}.js`
  )
)

/** Programs of `node_modules/.bin`, which is not on the path of a reader. */
const UNREACHABLE = /^(?:biome|redocly|rolldown|tsc|vite|vitest)\s/

/** Commands of a line that a reader cannot run: a tool of the checkout without its folder, TypeScript on any Node. */
export const unreachable = (line: string): ReadonlyArray<string> => {
  const command = line.replace(/^(?:[A-Z][A-Z0-9_]*=\S*\s+)*/, "")
  const [program = ""] = command.split(" ")
  if (UNREACHABLE.test(command)) return [`${program} is not on the path; npm run has it`]
  return /^node\s.*\.ts\b/.test(command) ? ["any Node runs no TypeScript; node_modules/.bin/node does"] : []
}

/** The missing files that a line passes to Node, from the document's folder or the root. */
export const missingFiles = (document: string, line: string): ReadonlyArray<string> =>
  [...line.matchAll(/(?:^|\s)node (?:--\S+ )*([\w./-]+\.(?:ts|mjs|js))/g)].flatMap(([, file = ""]) =>
    programs.has(file) ||
    existsSync(join(ROOT, file)) ||
    existsSync(join(ROOT, dirname(document), file)) ||
    read(document).includes(`cat > ${file} <<`)
      ? []
      : [`${file} does not exist`]
  )
