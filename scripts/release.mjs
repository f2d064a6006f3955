// Makes a release, up to the step that a person takes:
//
//   npm run release -- VERSION [--dry-run]
//
// It sets the version, freezes the migrations, keeps data and program as fixtures of the upgrade, builds the packages,
// tests the packed files in empty folders, on other Nodes, Bun and Deno, and puts them into release/VERSION with their
// bills of materials and checksums. Then it commits and tags. Nothing is published. --dry-run puts everything back at
// the end, and keeps release/VERSION.
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const USAGE = "usage: npm run release -- VERSION [--dry-run]"
const PENDING = /^## (\S+), not released yet$/m

const refuse = (reason) => {
  console.error(`${reason}\n${USAGE}`)
  process.exit(2)
}

const run = (command, args, options = {}) => {
  const { status, stdout } = spawnSync(command, args, { cwd: root, encoding: "utf8", stdio: "inherit", ...options })
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${status}`)
  return (stdout ?? "").trim()
}
const git = (...args) => run("git", args, { stdio: ["ignore", "pipe", "inherit"] })
const npm = (...args) => run("npm", ["run", "--silent", ...args])

const read = () => {
  try {
    return parseArgs({ allowPositionals: true, options: { "dry-run": { type: "boolean", default: false } } })
  } catch (error) {
    return refuse(error.message.split(". ")[0])
  }
}
const { positionals, values } = read()
const [version = ""] = positionals
const isDry = values["dry-run"]

const partsOf = (text) => /^(\d+)\.(\d+)\.(\d+)$/.exec(text)?.slice(1).map(Number)
const before = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version
const isLater = () => {
  const [next, now] = [partsOf(version), partsOf(before)]
  const at = next.findIndex((part, index) => part !== now[index])
  return at >= 0 && next[at] > now[at]
}
if (positionals.length !== 1 || partsOf(version) === undefined) refuse("VERSION is three numbers, such as 1.0.0")
if (!isLater()) refuse(`${version} is not later than ${before}`)
if (git("status", "--porcelain") !== "") refuse("the checkout has changes that are not committed")
if (git("tag", "--list", `v${version}`) !== "") refuse(`the tag v${version} exists`)
const changelog = readFileSync(join(root, "CHANGELOG.md"), "utf8")
if (!PENDING.test(changelog)) refuse("CHANGELOG.md has no section that is not released yet")

const folder = join(root, "release", version)
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })

/** Replaces a text in a file that must have it. */
const replace = (file, found, instead) => {
  const path = join(root, file)
  const text = readFileSync(path, "utf8")
  if (text.search(found) < 0) throw new Error(`${file} does not have ${found}`)
  writeFileSync(path, text.replace(found, instead))
}

/** The version stands in each package.json, in the source, in the chart and in the changelog. */
const setVersion = () => {
  const manifests = git("ls-files", "package.json", "packages/*/package.json").split("\n")
  for (const file of manifests) replace(file, /"version": "[^"]+"/, `"version": "${version}"`)
  for (const file of ["packages/api/src/Version.ts", "packages/runtime/src/GrpcClient.ts"]) {
    replace(file, /_VERSION = "\d+\.\d+\.\d+"/, `_VERSION = "${version}"`)
  }
  replace("docker/helm/runplane/Chart.yaml", /^version: .+$/m, `version: ${version}`)
  replace("docker/helm/runplane/Chart.yaml", /^appVersion: .+$/m, `appVersion: "${version}"`)
  const today = new Date().toISOString().slice(0, 10)
  replace("CHANGELOG.md", PENDING, `## ${version} (${today})`)
  npm("generate")
}

/** No later program may change the migrations of a release. */
const freezeMigrations = () => {
  const names = readdirSync(join(root, "migrations"), { recursive: true })
    .filter((name) => /\.(sql|txt)$/.test(name))
    .map((name) => name.replaceAll("\\", "/"))
    .sort()
  const hashOf = (name) =>
    createHash("sha256")
      .update(readFileSync(join(root, "migrations", name), "utf8").replaceAll("\r\n", "\n"))
      .digest("hex")
  const frozen = Object.fromEntries(names.map((name) => [name, hashOf(name)]))
  writeFileSync(join(root, "packages/checks/src/migrations/frozen.json"), `${JSON.stringify(frozen, null, 2)}\n`)
}

/** The bills of the packed files beside them, the verifier of evidence, and the sums of all. */
const describeFiles = () => {
  for (const name of ["verify.py", "passkeys.py"]) {
    copyFileSync(join(root, "packages/verify", name), join(folder, name))
  }
  const packed = readdirSync(folder).filter((name) => name.endsWith(".tgz"))
  for (const file of packed) {
    const bill = run("tar", ["-xOzf", join(folder, file), "package/sbom.cdx.json"], {
      stdio: ["ignore", "pipe", "inherit"]
    })
    writeFileSync(join(folder, file.replace(/\.tgz$/, ".cdx.json")), `${bill}\n`)
  }
  const sums = readdirSync(folder)
    .sort()
    .map(
      (name) =>
        `${createHash("sha256")
          .update(readFileSync(join(folder, name)))
          .digest("hex")}  ${name}\n`
    )
  writeFileSync(join(folder, "SHA256SUMS"), sums.join(""))
  return packed
}

const start = git("rev-parse", "HEAD")

/** The checkout was clean, so nothing but this release is undone. */
const restore = () => {
  git("reset", "--quiet", "--hard", start)
  git("clean", "-qfd", "packages")
}

try {
  setVersion()
  freezeMigrations()
  // The data and the program that later releases are tested with.
  run(process.execPath, ["scripts/upgrade-fixture.mjs", "--version", version])
  npm("check")
  npm("test:packages", "--", "--release", folder)
  const packed = describeFiles()
  if (isDry) {
    restore()
    console.log(`${folder} has the files of ${version}; the checkout is as before`)
  } else {
    git("add", "--all", ".")
    git("commit", "--quiet", "--message", `Release ${version}`)
    git("tag", "--annotate", `v${version}`, "--message", `Runplane ${version}`)
    console.log(`
${version} is committed and tagged, and its files are in ${folder}. To publish it:

  git push --follow-tags
  gh workflow run release.yml --ref v${version}   # or, without provenance, from here:
${packed.map((name) => `  npm publish ${join("release", version, name)}`).join("\n")}`)
  }
} catch (error) {
  restore()
  if (existsSync(folder)) rmSync(folder, { recursive: true })
  console.error(`${version} is not made, and the checkout is as before: ${error.message}`)
  process.exitCode = 1
}
