// Runs a test script of package.json and reports its failures in a few lines, which the end of the run repeats.
//
//   node .ci/tests.mjs REPORT SECONDS SCRIPT [ARGUMENTS]
//
// The arguments go to the script each time. All runs together take SECONDS at most: a run that takes longer is ended,
// and REPORT has its failures as soon as a run has ended.
// The servers under test share two cores with whatever else the machine does. So up to three files that fail are run
// once more, alone: those that pass then do not fail the step, but are named in REPORT, because they need mending.
import { spawnSync } from "node:child_process"
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"

/** More files than this are no accident. */
const MOST_REPEATED = 3
/** How a script says that it cannot be done on this machine. */
const CANNOT_RUN = 77
/** Characters of a failure that are reported. */
const LONGEST_REASON = 800

const [report, seconds, script, ...given] = process.argv.slice(2)
if (report === undefined || script === undefined || !(Number(seconds) > 0)) {
  console.error("usage: node .ci/tests.mjs REPORT SECONDS SCRIPT [ARGUMENTS]")
  process.exit(2)
}
const deadline = performance.now() + Number(seconds) * 1000
const root = dirname(dirname(fileURLToPath(import.meta.url)))
const folder = mkdtempSync(join(tmpdir(), "runplane-ci-"))

/** Runs the script over the files, or over all; returns its exit code and what failed in which file. */
const runTests = (attempt, files) => {
  const output = join(folder, `${attempt}.json`)
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${output}`]
  const { status } = spawnSync("npm", ["run", "--silent", script, "--", ...given, ...reporters, ...files], {
    cwd: root,
    stdio: "inherit",
    timeout: Math.max(1, Math.round(deadline - performance.now()))
  })
  return { code: status ?? 1, failed: status === 0 ? [] : failuresIn(output) }
}

/** Undefined when the run ended without a report. */
const failuresIn = (output) => {
  let results
  try {
    results = JSON.parse(readFileSync(output, "utf8")).testResults
  } catch {
    return undefined
  }
  return results
    .filter(({ status }) => status === "failed")
    .map(({ assertionResults, endTime, message, name, startTime }) => ({
      file: relative(root, name),
      tookMs: endTime - startTime,
      tests: [
        ...(message ? [{ name: "(the file)", reason: message }] : []),
        ...assertionResults
          .filter(({ status }) => status === "failed")
          .map((test) => ({ name: test.fullName, reason: test.failureMessages.join("\n") }))
      ]
    }))
}

const note = (text) => appendFileSync(report, `${text}\n`)

const describe = ({ file, tests }) =>
  tests
    .map(({ name, reason }) => `${file}\n  ${name}\n    ${reason.slice(0, LONGEST_REASON).replaceAll("\n", "\n    ")}`)
    .join("\n")

const attempts = () => {
  const first = runTests("first", [])
  if (first.code === 0 || first.code === CANNOT_RUN) return first.code
  if (first.failed === undefined) note(`${script}: the test run ended without a report`)
  if (first.failed === undefined || first.failed.length === 0) return first.code
  // Before the second run, because the step may end within it.
  for (const failure of first.failed) note(`failed: ${describe(failure)}`)
  if (first.failed.length > MOST_REPEATED) return first.code
  const files = first.failed.map(({ file }) => file)
  const neededMs = first.failed.reduce((sum, { tookMs }) => sum + tookMs, 0)
  if (neededMs > deadline - performance.now()) {
    note(`no time is left to run these files once more, alone: ${files.join(" ")}`)
    return first.code
  }
  console.log(`\n== once more, alone: ${files.join(" ")}`)
  const second = runTests("second", files)
  if (second.code === 0) note(`passed alone: ${files.join(" ")}`)
  else if (second.failed === undefined) note(`could not be repeated: ${files.join(" ")}`)
  else for (const failure of second.failed) note(`failed again, alone: ${describe(failure)}`)
  return second.code
}

try {
  process.exitCode = attempts()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
