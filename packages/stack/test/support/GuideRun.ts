import { spawn } from "node:child_process"
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { temporaryFolder } from "@runplane/postgres"
import { programFile } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { ROOT } from "./DocumentBlocks.ts"

/** One `sh` block of a guide, and the lines of the `text` block directly after it. */
export interface Step {
  readonly script: string
  readonly shown: string | undefined
}

export const stepsOf = (guide: string): ReadonlyArray<Step> =>
  [...guide.matchAll(/^```sh\n([\s\S]*?)^```\n(?:\n```text\n([\s\S]*?)^```\n)?/gm)].map(([, script = "", shown]) => ({
    script,
    shown
  }))

const VARYING: ReadonlyArray<readonly [RegExp, string]> = [
  [/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "ID"],
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME"],
  [/\b\d+(?:\.\d+)? ?(?:ms|s|m|h)\b/g, "DURATION"],
  [/[ \t]+/g, " "],
  [/ $/gm, ""],
  [/^ /gm, ""]
]

const comparable = (text: string) => VARYING.reduce((each, [varying, name]) => each.replaceAll(varying, name), text)

const literally = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")

/**
 * Whether the text in a guide matches the output of its command (docs/guides/README.md#how-to-read-a-guide). Ids,
 * times, durations and the width of columns may differ. `...` in a line is any text, and alone any number of lines.
 */
export const shows = (shown: string, printed: string): boolean => {
  const lines = comparable(shown)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => (line === "..." ? "(?:.*\\n)*?" : `${line.split("...").map(literally).join(".*")}\\n`))
  return new RegExp(`^${lines.join("")}$`).test(comparable(`${printed}\n`).replaceAll(/\n+/g, "\n"))
}

/** The script of a guide: all blocks in one shell, each with its output in a file of its own. */
const scriptOf = (steps: ReadonlyArray<Step>, outputs: string) =>
  ["set -euo pipefail", ...steps.map(({ script }, index) => `{\n${script}} >"${join(outputs, `${index}`)}" 2>&1`)].join(
    "\n"
  )

export interface GuideRun {
  readonly guide: string
  /** Environment variables in addition to those of this process. */
  readonly env: Readonly<Record<string, string>>
  /** The ports of the guide, each with the port in this test. */
  readonly ports: Readonly<Record<string, number>>
}

const bash = (script: string, cwd: string, env: NodeJS.ProcessEnv) =>
  Effect.callback<number | null>((resume) => {
    const shell = spawn("bash", ["-c", script], { cwd, env, stdio: ["ignore", "ignore", "inherit"], detached: true })
    // The whole group, with the background processes of a guide.
    const end = () => {
      try {
        if (shell.pid !== undefined) process.kill(-shell.pid, "SIGKILL")
      } catch {
        // The group has ended.
      }
    }
    shell.once("exit", (code) => {
      end()
      resume(Effect.succeed(code))
    })
    return Effect.sync(end)
  })

/** A folder with the command `runplane` of this checkout. */
export const commandFolder = Effect.map(temporaryFolder, (folder) => {
  const { env, main } = programFile("runplane", join(ROOT, "packages/stack/src/runplane/main.ts"))
  const variables = Object.entries(env).map(([name, value]) => `${name}="${value}" `)
  writeFileSync(join(folder, "runplane"), `#!/bin/sh\n${variables.join("")}exec "${process.execPath}" "${main}" "$@"\n`)
  chmodSync(join(folder, "runplane"), 0o755)
  return folder
})

/** The time limit of a guide on a busy machine, in milliseconds. */
const LIMIT_MS = 300_000

/** Runs the commands of a guide in an empty folder; returns the differences between its texts and the outputs. */
export const faultsOfGuide = Effect.fnUntraced(function* ({ env, guide, ports }: GuideRun) {
  const folder = yield* temporaryFolder
  const [work, outputs] = [join(folder, "work"), join(folder, "outputs")]
  for (const name of [work, outputs]) mkdirSync(name, { recursive: true })
  const withPorts = (text: string) =>
    text.replaceAll(/\b\d{4,5}\b/g, (port) => (port in ports ? String(ports[port]) : port))
  const steps = stepsOf(withPorts(readFileSync(join(ROOT, "docs/guides", guide), "utf8")))
  const code = yield* Effect.timeoutOption(bash(scriptOf(steps, outputs), work, { ...process.env, ...env }), LIMIT_MS)
  const printed = steps.map((_, index) => {
    try {
      return readFileSync(join(outputs, `${index}`), "utf8")
    } catch {
      return undefined // An earlier block failed.
    }
  })
  const wrong = steps.flatMap(({ shown }, index) =>
    shown === undefined || printed[index] === undefined || shows(shown, printed[index])
      ? []
      : [`${guide} shows\n${shown}\nand its block ${index + 1} printed\n${printed[index]}`]
  )
  const ran = printed.filter((each) => each !== undefined)
  const end = Option.match(code, { onNone: () => "its time limit", onSome: (exit) => `exit code ${exit}` })
  return end === "exit code 0"
    ? wrong
    : [`${guide} ended with ${end} in block ${ran.length}, after\n${ran.at(-1)}`, ...wrong]
})
