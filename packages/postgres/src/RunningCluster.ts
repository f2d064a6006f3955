import { existsSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { readPassword, SUPERUSER } from "./ClusterFolder.ts"
import { attempt } from "./DataFolder.ts"

/** The lines of PostgreSQL's `postmaster.pid`: the process, the folder, the time of the start, the port. */
const PORT_LINE = 3

/** Whether the data folder holds a cluster, running or not. */
export const hasCluster = (dataDir: string): boolean => existsSync(join(resolve(dataDir), "postgres", "PG_VERSION"))

/**
 * The URL of a database of the embedded server that runs on the data folder, with the password; undefined when none
 * runs. Starts nothing.
 */
export const runningServerUrl = Effect.fn("RunningCluster.url")(function* (dataDir: string, database: string) {
  const cluster = join(resolve(dataDir), "postgres")
  const port = yield* attempt(cluster, () => portOf(join(cluster, "postmaster.pid")))
  if (port === undefined) return undefined
  const password = Redacted.value(yield* readPassword(cluster))
  return `postgresql://${SUPERUSER}:${password}@127.0.0.1:${port}/${database}`
})

const portOf = (file: string): number | undefined => {
  if (!existsSync(file)) return undefined
  const lines = readFileSync(file, "utf8").split("\n")
  return isAlive(Number(lines[0])) ? Number(lines[PORT_LINE]) : undefined
}

/** A server that was killed leaves its file. */
const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM"
  }
}
