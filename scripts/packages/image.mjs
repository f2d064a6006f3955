// What the build stage of docker/Dockerfile does, in a folder of this machine: the files that .dockerignore lets
// through, and the stage's commands with other places in them.
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { copyFiles, root, run, trackedFiles } from "./support.mjs"

/** The tracked files and folders that .dockerignore names after `!`, without what it names after that. */
const context = () => {
  const lines = readFileSync(join(root, ".dockerignore"), "utf8").split("\n")
  const wanted = lines.filter((line) => line.startsWith("!")).map((line) => line.slice(1))
  const refused = lines.filter((line) => line.startsWith("**/")).map((line) => line.slice(3))
  const isRefused = (part) =>
    refused.some((name) => (name.startsWith("*") ? part.endsWith(name.slice(1)) : part === name))
  return trackedFiles()
    .filter((file) => wanted.some((name) => file === name || file.startsWith(`${name}/`)))
    .filter((file) => !file.split("/").some(isRefused))
}

/** Makes the image's /app at `app`, as the build stage does, with the Node and npm of the path. */
export const buildApp = (folder, app, env) => {
  const source = join(folder, "source")
  copyFiles(context(), source)
  const dockerfile = readFileSync(join(root, "docker/Dockerfile"), "utf8")
  const [, version] = /^ARG PNPM_VERSION=(\S+)/m.exec(dockerfile)
  const [stage] = dockerfile.split(/^FROM .*BASE_IMAGE/m)
  const commands = [...stage.matchAll(/^RUN ((?:.*\\\n)*.*)$/gm)].map(([, command]) =>
    command
      .replaceAll("\\\n", " ")
      .replaceAll("/opt/pnpm", join(folder, "pnpm"))
      .replace(/ \/app$/, ` ${app}`)
  )
  for (const command of commands) run("sh", ["-ec", command], { cwd: source, env: { ...env, PNPM_VERSION: version } })
}
