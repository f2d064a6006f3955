import { PROJECT_FOLDER } from "@runplane/server"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Stream from "effect/Stream"
import { AgentNotAttached } from "../common/LaunchErrors.ts"
import type { LauncherSettingsShape } from "../LauncherSettings.ts"
import type { AgentManifest } from "./AgentManifest.ts"
import { entrypointNames, type HostCommand, hostCommand } from "./HostCommand.ts"

/** The folders of programs when the environment has no PATH, as the system has them. */
const DEFAULT_PATH = "/usr/bin:/bin"

/** Any of the permissions to execute. */
const EXECUTABLE = 0o111

export type CommandSettings = Pick<
  LauncherSettingsShape,
  "agentsDir" | "serviceRoot" | "nodePath" | "pythonPath" | "hostEnvAllow" | "agentUser"
>

/**
 * The command that starts an agent, once everything that it names is there: the working directory, the script and the
 * interpreter (docs/internals/launch.md#agent-files). Fails with the first that is missing. A Python module
 * is not checked: only its interpreter finds it.
 */
export const agentCommand = Effect.fn("AgentCommand.resolve")(function* (
  manifest: AgentManifest,
  settings: CommandSettings
): Effect.fn.Return<HostCommand, AgentNotAttached, FileSystem.FileSystem | Path.Path> {
  const path = yield* Path.Path
  const { agentsDir, serviceRoot } = settings
  const folders = [path.join(agentsDir, "manifests"), agentsDir, serviceRoot, PROJECT_FOLDER]
  const cwd = yield* workingDirectory(manifest.host.cwd, serviceRoot, folders)
  const value = yield* entrypoint(manifest, cwd, manifest.host.cwd === undefined ? folders : [cwd, ...folders])
  const command = yield* Effect.mapError(
    Effect.fromResult(
      hostCommand({ ...manifest, entrypoint: { ...manifest.entrypoint, value } }, settings, {
        ownNode: process.execPath,
        parent: process.env
      })
    ),
    (reason) => new AgentNotAttached({ reason })
  )
  yield* checkProgram(command.command, cwd, command.env["PATH"], programOf(manifest))
  return { ...command, cwd, env: { ...command.env, EXAMPLE_AGENT_ENTRYPOINT: manifest.entrypoint.value } }
})

const missing = (what: string, at: ReadonlyArray<string>, remedy: string) =>
  new AgentNotAttached({ reason: `spawn error: ${what}`, at, remedy })

/** Where a manifest says which program is run, and what to do when it is not there. */
const programOf = ({ entrypoint: { type }, host }: AgentManifest): readonly [ReadonlyArray<string>, string] => {
  if (type === "command") return [["entrypoint", "value"], "install it, or correct entrypoint.value"]
  const key = type === "node_file" ? "node" : "python"
  return host[key] === undefined
    ? [["entrypoint", "type"], `install it, or name another one in EXAMPLE_AGENT_${key.toUpperCase()}_PATH`]
    : [["host", key], `install it, or correct host.${key}`]
}

const SEARCHED_FOLDERS = "beside the manifest, in the agents' folder, in the service's root or in Runplane's own folder"

/** A manifest without one, or with `.`, means the service's root. */
const workingDirectory = Effect.fnUntraced(function* (
  named: string | undefined,
  root: string,
  folders: ReadonlyArray<string>
) {
  if (named === undefined || named === "" || named === ".") return root
  const path = yield* Path.Path
  for (const base of folders) {
    const folder = path.resolve(base, named)
    if ((yield* kindOf(folder)) === "Directory") return folder
  }
  return yield* missing(
    `no working directory ${named} ${SEARCHED_FOLDERS}`,
    ["host", "cwd"],
    "make it, or correct host.cwd"
  )
})

/** The entrypoint as the process gets it: as written if it is in the working directory, else its path. */
const entrypoint = Effect.fnUntraced(function* (manifest: AgentManifest, cwd: string, folders: ReadonlyArray<string>) {
  const { type, value } = manifest.entrypoint
  if (type === "python_module" || type === "container") return value
  if (type === "command" && !/[\\/]/.test(value)) return value
  const path = yield* Path.Path
  for (const folder of folders) {
    for (const name of entrypointNames(manifest)) {
      const file = path.resolve(folder, name)
      if ((yield* kindOf(file)) === "File") return folder === cwd ? name : file
    }
  }
  const at = ["entrypoint", "value"]
  return yield* missing(`there is no ${value} ${SEARCHED_FOLDERS}`, at, "put it there, or correct entrypoint.value")
})

/** Whether the program can be executed: a path from the working directory on, a bare name from the PATH. */
const checkProgram = Effect.fnUntraced(function* (
  program: string,
  cwd: string,
  searched: string | undefined,
  [at, remedy]: readonly [ReadonlyArray<string>, string]
) {
  // On Windows the name of a program has an ending that manifests leave out.
  if (process.platform === "win32") return
  const path = yield* Path.Path
  const fs = yield* FileSystem.FileSystem
  const isExecutable = (file: string) =>
    fs.stat(file).pipe(
      Effect.map((info) => info.type === "File" && (info.mode & EXECUTABLE) !== 0),
      Effect.orElseSucceed(() => false)
    )
  if (program.includes("/")) {
    const file = path.resolve(cwd, program)
    if (yield* isExecutable(file)) return yield* checkFirstLine(program, file, at)
    const kind = yield* kindOf(file)
    return kind === "File"
      ? yield* missing(`${program} is not executable`, at, `make it executable (chmod +x ${program})`)
      : yield* missing(`there is no program ${program}`, at, remedy)
  }
  for (const folder of (searched ?? DEFAULT_PATH).split(":")) {
    const file = path.resolve(cwd, folder, program)
    if (yield* isExecutable(file)) return yield* checkFirstLine(program, file, at)
  }
  return yield* missing(`there is no program ${program} on the PATH of agents`, at, remedy)
})

/** Bytes of a first line that the system reads. */
const FIRST_LINE_BYTES = 256

/**
 * Whether the system finds the interpreter that a script names in its first line. When it does not, it says of the
 * script that there is no such file.
 */
const checkFirstLine = Effect.fnUntraced(function* (program: string, file: string, at: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  const start = yield* fs.stream(file, { bytesToRead: FIRST_LINE_BYTES }).pipe(
    Stream.decodeText,
    Stream.mkString,
    Effect.orElseSucceed(() => "")
  )
  const interpreter = /^#![ \t]*(\/\S+)/.exec(start)?.[1]
  if (interpreter === undefined) return
  if (/^#![^\n]*\r\n/.test(start)) {
    const remedy = "save it with line ends of LF alone"
    return yield* missing(`the lines of ${program} end in CR LF, which its interpreter's name then has`, at, remedy)
  }
  if ((yield* kindOf(interpreter)) === "File") return
  yield* missing(
    `there is no ${interpreter}, which the first line of ${program} names`,
    at,
    "install it, or correct the line"
  )
})

const kindOf = (file: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    fs.stat(file).pipe(
      Effect.map((info) => info.type),
      Effect.orElseSucceed(() => undefined)
    )
  )
