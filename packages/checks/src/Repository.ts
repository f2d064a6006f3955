import { spawnSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** The root of the checkout. */
export const ROOT = join(import.meta.dirname, "../../..")

/** The text of a file, by its path from the root. */
export const read = (file: string): string => readFileSync(join(ROOT, file), "utf8")

/** Whether the checkout has this path. */
export const exists = (file: string): boolean => existsSync(join(ROOT, file))

/** The files of the checkout that git does not ignore, as paths from the root with slashes. */
export const trackedFiles = (): ReadonlyArray<string> => {
  const { status, stderr, stdout } = spawnSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    cwd: ROOT,
    encoding: "utf8"
  })
  if (status !== 0) throw new Error(`git ls-files failed: ${stderr}`)
  return stdout.split("\n").filter((file) => file !== "" && exists(file))
}

/** Generated code, and data that tests read. */
export const isGenerated = (file: string): boolean =>
  /\/(?:src|test)\/(?:runplane\/)?gen\/|\/openapi\/.*\.json$/.test(file)

/** Code of the packages and of the scripts that people write. */
export const isOwnCode = (file: string): boolean =>
  /^(?:packages|scripts)\/.*\.(?:ts|tsx|mts|mjs)$/.test(file) && !isGenerated(file)
