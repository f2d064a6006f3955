import { execFileSync, spawn } from "node:child_process"
import {
  chmodSync,
  closeSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  rmSync
} from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { temporaryFolder } from "@runplane/postgres"
import { freePorts } from "@runplane/testing"
import * as Effect from "effect/Effect"

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url))

/** The files of this checkout as a clone would have them, with nothing installed; gone with the scope. */
export const copyOfCheckout = Effect.gen(function* () {
  const folder = join(yield* temporaryFolder, "checkout")
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: ROOT,
    encoding: "utf8"
  })
  for (const file of listed.split("\0").filter((name) => name !== "" && existsSync(join(ROOT, name)))) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    cpSync(join(ROOT, file), join(folder, file), { verbatimSymlinks: true })
  }
  chmodSync(folder, 0o755)
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      const data = join(folder, ".data", "postgres")
      // Root's database may live elsewhere, with a link to it.
      if (existsSync(data)) rmSync(realpathSync(data), { recursive: true, force: true })
    })
  )
  return folder
})

/** Settings of the environment of the tests that would change `npm start`. */
const UNWANTED = /^(DATABASE_URL|RUNTIME_ADDRESS|AUTH_|DEV_AUTH|NODE_ENV|LOG_LEVEL|HOST$|PACKS_DIR|RUNPLANE_|npm_)/

export const portSettings = Effect.map(freePorts(3), ([launcher, controlPlane, sandbox]) => ({
  LAUNCHER_PORT: String(launcher),
  CONTROL_PLANE_PORT: String(controlPlane),
  OTLP_GRPC_PORT: "0",
  SANDBOX_PORT: String(sandbox)
}))

/** `npm start` in a checkout. It is killed with the scope. */
export const npmStart = (folder: string, ports: Readonly<Record<string, string>>, ...args: ReadonlyArray<string>) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() =>
        spawn("npm", ["start", "--silent", "--", ...args], {
          cwd: folder,
          env: {
            ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !UNWANTED.test(name))),
            ...ports
          },
          stdio: ["ignore", "pipe", "pipe"]
        })
      ),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    ),
    (child) => {
      const output = { stdout: "", stderr: "" }
      for (const name of ["stdout", "stderr"] as const) {
        child[name].setEncoding("utf8").on("data", (text: string) => {
          output[name] += text
        })
      }
      const closed = new Promise<number | null>((resolve) => child.once("close", resolve))
      return { pid: child.pid ?? 0, output, code: Effect.promise(() => closed) }
    }
  )

/** Capacity on the disk in MB, each file counted once however many names it has. */
export const megabytes = (folder: string): number => {
  const seen = new Set<number>()
  let blocks = 0
  for (const path of everythingIn(folder)) {
    const { blocks: own, ino } = lstatSync(path)
    if (!seen.has(ino)) blocks += own
    seen.add(ino)
  }
  return (blocks * 512) / 1024 / 1024
}

/** The recursive reader of Node would follow links to folders. */
const everythingIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    return entry.isDirectory() ? [path, ...everythingIn(path)] : [path]
  })

const FOREIGN: Readonly<Record<string, string>> = { "4d5a": "Windows", cffaedfe: "macOS", cafebabe: "macOS" }

/** Programs of another system among the files of a folder, by their first bytes; small files are not programs. */
export const foreignPrograms = (folder: string): ReadonlyArray<string> =>
  everythingIn(folder).filter((path) => {
    const stats = lstatSync(path)
    if (!stats.isFile() || stats.size < 16_384) return false
    const start = Buffer.alloc(4)
    const file = openSync(path, "r")
    readSync(file, start, 0, 4, 0)
    closeSync(file)
    const hex = start.toString("hex")
    return (FOREIGN[hex] ?? FOREIGN[hex.slice(0, 4)]) !== undefined
  })
