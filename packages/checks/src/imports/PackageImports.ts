import { builtinModules } from "node:module"
import { posix } from "node:path"
import { ARROWS, TEST_ARROWS } from "../declaration/Packages.ts"
import type { PackageSources } from "../Workspace.ts"
import { importsOf } from "./Imports.ts"

const SCOPE = "@runplane/"

/** What a package offers to tests, as `@runplane/<package>/testing`; of the sources only the bench's may load it. */
const TESTING = "testing"
const LOADS_TESTING: ReadonlySet<string> = new Set(["bench"])
const isTesting = (path: string) => path.startsWith(`src/${TESTING}/`)

/** The OpenAPI documents that a package publishes, as `@runplane/<package>/openapi/<service>.json`. */
const DOCUMENT = /^openapi\/[a-z-]+\.json$/

interface ModuleRule {
  readonly modules: RegExp
  readonly why: string
}

const NODE: ModuleRule = {
  modules: new RegExp(`^(node:.*|@effect/platform-.*|(${builtinModules.join("|")})(/.*)?)$`),
  why: "it must run without Node"
}
const SQL: ModuleRule = {
  modules: /^(effect\/sql|@effect\/sql)/,
  why: "only the control plane, and seats and tasks of the launch service have a database"
}
/** The folders of the launch service with the rows of seats, and of tasks. */
const WITH_ROWS = ["src/people/", "src/tasks/"]

/** What the sources of a package must not import from outside of the workspace. Tests may. */
const FORBIDDEN_MODULES: Readonly<Record<string, ReadonlyArray<ModuleRule>>> = {
  domain: [
    NODE,
    // Lower-case modules are the effectful families; encoding is pure.
    { modules: /^effect\/(?!encoding(\/|$))[a-z]/, why: "the domain is pure" },
    {
      modules:
        /^effect\/(Clock|Random|FileSystem|Path|Console|Stdio|Terminal|Config|ConfigProvider|Logger|Layer|Context)$/,
      why: "the domain is pure: no clock, no randomness, no I/O, no services"
    }
  ],
  api: [NODE, SQL],
  runtime: [SQL],
  mcp: [SQL],
  server: [SQL],
  agents: [SQL],
  sandbox: [SQL],
  launcher: [SQL]
}

/** What is wrong with the imports of a package; one line each, empty when nothing is. */
export const violations = (sources: PackageSources): ReadonlyArray<string> =>
  sources.files.flatMap((file) =>
    importsOf(file.text).flatMap((specifier) => {
      const problem = problemOf(sources, file.path, specifier)
      return problem === undefined ? [] : [`packages/${sources.name}/${file.path} imports "${specifier}": ${problem}`]
    })
  )

const problemOf = (sources: PackageSources, path: string, specifier: string): string | undefined => {
  const isTest = !path.startsWith("src/")
  if (specifier.startsWith(".")) return relativeProblem(path, specifier, isTest)
  if (specifier.startsWith("#") || specifier.startsWith("/")) return "only relative paths and package names"
  if (specifier.startsWith(SCOPE)) return arrowProblem(sources, specifier.slice(SCOPE.length), isTest)
  const hasRows = sources.name === "launcher" && WITH_ROWS.some((folder) => path.startsWith(folder))
  const rules = FORBIDDEN_MODULES[sources.name]?.filter((rule) => !(hasRows && rule === SQL))
  const forbidden = isTest ? undefined : rules?.find(({ modules }) => modules.test(specifier))
  if (forbidden !== undefined) return forbidden.why
  return declarationProblem(sources, specifier, isTest)
}

const relativeProblem = (path: string, specifier: string, isTest: boolean) => {
  const target = posix.join(posix.dirname(path), specifier)
  if (target.startsWith("..")) return "relative imports stay within the package"
  if (!isTest && !target.startsWith("src/")) return "sources do not import tests or tools"
  if (!isTest && isTesting(target) && !isTesting(path)) return "only tests and the bench load test doubles"
  return undefined
}

const arrowProblem = ({ dependencies, name, testDependencies }: PackageSources, imported: string, isTest: boolean) => {
  const [target = "", ...path] = imported.split("/")
  const part = path.join("/")
  if (part !== "" && part !== TESTING && !DOCUMENT.test(part)) return "packages are imported by their name alone"
  if (part === TESTING && !isTest && !LOADS_TESTING.has(name)) return "only tests and the bench load test doubles"
  // Tests may read their package as others see it; within the sources it would be a circle.
  if (target === name) return isTest ? undefined : "a package does not import itself by name"
  const allowed = [...(ARROWS[name] ?? []), ...(isTest ? (TEST_ARROWS[name] ?? []) : [])]
  if (!allowed.includes(target)) return `${name} must not know ${target}`
  const declared = isTest ? testDependencies : dependencies
  return declared.has(`${SCOPE}${target}`) ? undefined : "not in package.json"
}

const declarationProblem = ({ dependencies, testDependencies }: PackageSources, specifier: string, isTest: boolean) => {
  if (specifier.startsWith("node:")) return undefined
  if (builtinModules.includes(specifier)) return "modules of Node are named node:*"
  const [scope = "", name = ""] = specifier.split("/")
  const dependency = scope.startsWith("@") ? `${scope}/${name}` : scope
  return (isTest ? testDependencies : dependencies).has(dependency) ? undefined : "not in package.json"
}
