import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { foreignNames } from "@runplane/server"

/** The root of the checkout. */
export const ROOT = join(import.meta.dirname, "../../../..")
const read = (path: string) => readFileSync(join(ROOT, path), "utf8")
const namesIn = (folder: string) => readdirSync(join(ROOT, folder))

/** Code that a document shows: fenced, or a run of indented lines. */
export interface Block {
  readonly document: string
  /** Of a fence; `indented` otherwise. */
  readonly language: string
  readonly lines: ReadonlyArray<string>
}

/** Every document of the project. */
export const documents: ReadonlyArray<string> = [
  ...["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "docker/README.md", "packs/README.md"],
  "packages/stack/test/runtimes/README.md",
  ...namesIn("scripts/build/readme").map((name) => `scripts/build/readme/${name}`),
  ...["docs", "docs/guides", "docs/guides/opentelemetry", "docs/reference", "docs/internals"].flatMap((folder) =>
    namesIn(folder).flatMap((name) => (name.endsWith(".md") ? [`${folder}/${name}`] : []))
  ),
  ...namesIn("packages").flatMap((name) =>
    namesIn(`packages/${name}`).includes("README.md") ? [`packages/${name}/README.md`] : []
  )
]

export const blocksOf = (document: string, text = read(document)): ReadonlyArray<Block> =>
  [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$|(?:^ {4}.*\n(?:\n(?= {4}))?)+/gm)].map(([whole, language, fenced]) => ({
    document,
    language: fenced === undefined ? "indented" : language || "text",
    lines: (fenced ?? whole.replaceAll(/^ {4}/gm, "")).split("\n").filter((line) => line.trim() !== "")
  }))

/** The names that a document can use for settings, paths and files of the project. */
interface Known {
  readonly settings: ReadonlySet<string>
  readonly isPath: (path: string) => boolean
  readonly isFile: (path: string) => boolean
}

/** Variables of other programs, and those that a shell line uses for itself. */
const FOREIGN = new Set([
  ...["MACP_ALLOW_INSECURE", "MACP_MEMORY_ONLY", "POSTGRES_PASSWORD"],
  ...[
    "ALERT",
    "HASH",
    "ITEM",
    "JOB",
    "KEY",
    "NOW",
    "PLAN",
    "RUN",
    "SLACK",
    "TOKEN",
    "TRACE",
    "WEBHOOK",
    "OPENAI_API_KEY"
  ],
  ...foreignNames
])

/** Variables of the environment that a line of code sets or reads, in a shell, JavaScript, Python or YAML. */
export const variablesIn = (line: string): ReadonlyArray<string> =>
  [
    ...line.matchAll(/(?<![\w-])(?:\$\{?|env\.|environ(?:\.get\(|\[)["'])?([A-Z][A-Z0-9]*_[A-Z0-9_]+)(?=(.?))/g)
  ].flatMap(([whole, name = "", after]) => (whole !== name || after === "=" ? [name] : []))

/** The unknown settings, paths and files of a line of a shell or of an environment. */
export const faultsIn = (line: string, known: Known): ReadonlyArray<string> => {
  const command = line.replace(/\s#\s.*$/, "")
  const assigned = /^((?:[A-Z][A-Z0-9_]*=\S*\s*)+)/.exec(command)?.[1] ?? ""
  const settings = [...assigned.matchAll(/([A-Z][A-Z0-9_]*)=/g)].map(([, name = ""]) => name)
  // The sources are at another address than the services.
  const served = command.replace(/^git clone \S+/, "")
  const paths = [...served.matchAll(/https?:\/\/[\w.-]+:?[\w]*(\/[^\s'"?]*)/g)].map(([, path = ""]) => path)
  const files = [...command.matchAll(/(?:\bnode |-f |\.bin\/node .*?)((?:packages|scripts|docker)\/\S+)/g)].map(
    ([, file = ""]) => file
  )
  return [
    ...settings
      .filter((name) => !known.settings.has(name) && !FOREIGN.has(name))
      .map((name) => `${name} is not a setting`),
    ...paths.filter((path) => !known.isPath(path)).map((path) => `no service serves ${path}`),
    ...files.filter((file) => !known.isFile(file)).map((file) => `${file} does not exist`)
  ]
}
