import * as Result from "effect/Result"
import type { LauncherSettingsShape } from "../LauncherSettings.ts"
import type { AgentManifest } from "./AgentManifest.ts"

/**
 * Variables of the service's own environment that agents may see, beside those of HOST_ENV_ALLOW; everything else, keys
 * above all, stays here.
 */
const INHERITED = [
  "PATH",
  "HOME",
  "USER",
  "LANG",
  "LC_ALL",
  "TZ",
  "TMPDIR",
  "TEMP",
  "TMP",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "NODE_EXTRA_CA_CERTS",
  // Without this: each agent compiles its own modules again; costs half of its start, 0.9 s of CPU.
  "NODE_COMPILE_CACHE",
  "SystemRoot",
  "ComSpec",
  "PATHEXT"
]

export interface HostCommand {
  readonly command: string
  readonly args: ReadonlyArray<string>
  /** Absolute path. */
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/**
 * The file names of an entrypoint, the preferred one first. TypeScript below `src/` is built to `dist/`;
 * any other TypeScript file may have been replaced by the JavaScript of the same name, as in the installed package,
 * where Node runs JavaScript only.
 */
export const entrypointNames = ({ entrypoint: { type, value } }: AgentManifest): ReadonlyArray<string> => {
  if (type !== "node_file" || !value.endsWith(".ts")) return [value]
  const built = value.replace(/\.ts$/, ".js")
  return built.startsWith("src/") ? [built.replace(/^src\//, "dist/"), value] : [value, built]
}

/** Names and files of the service's user, which agents of another one do not get. */
const OF_THE_USER = new Set(["HOME", "USER", "NODE_COMPILE_CACHE"])

/**
 * The command line of a manifest's entrypoint. `ownNode` is the interpreter that runs this service and `parent` its
 * environment. Containers have no adapter here.
 */
export const hostCommand = (
  manifest: AgentManifest,
  settings: Pick<LauncherSettingsShape, "nodePath" | "pythonPath" | "hostEnvAllow" | "agentUser">,
  process: { readonly ownNode: string; readonly parent: Readonly<Record<string, string | undefined>> }
): Result.Result<Omit<HostCommand, "cwd">, string> => {
  const { entrypoint, host } = manifest
  const args = host.args ?? []
  const { agentUser } = settings
  const names = agentUser === undefined ? INHERITED : INHERITED.filter((name) => !OF_THE_USER.has(name))
  const inherited = Object.fromEntries(
    [...names, ...settings.hostEnvAllow].flatMap((name) => {
      const value = process.parent[name]
      return value === undefined ? [] : [[name, value]]
    })
  )
  const shared = {
    env: {
      ...inherited,
      ...(agentUser !== undefined && { USER: agentUser.name }),
      ...host.env,
      EXAMPLE_AGENT_ENTRYPOINT: entrypoint.value
    }
  }
  const python = {
    ...shared,
    command: host.python ?? settings.pythonPath,
    env: { ...shared.env, PYTHONUNBUFFERED: "1" }
  }
  switch (entrypoint.type) {
    case "python_module":
      return Result.succeed({ ...python, args: ["-m", entrypoint.value, ...args] })
    case "python_file":
      return Result.succeed({ ...python, args: [entrypoint.value, ...args] })
    case "node_file":
      return Result.succeed({
        ...shared,
        command: host.node ?? (settings.nodePath || process.ownNode),
        args: [entrypoint.value, ...args]
      })
    case "command":
      return Result.succeed({ ...shared, command: entrypoint.value, args })
    case "container":
      return Result.fail(`entrypoint type "container" cannot be started by this service`)
  }
}
