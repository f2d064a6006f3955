// What the test of the packages does again and again: runs programs with a limit, installs, and starts a stack.
import { spawn, spawnSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, readFileSync } from "node:fs"
import { createServer } from "node:net"
import { freemem, loadavg, totalmem } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
/** Any one program, an install from a cold cache included. Milliseconds. */
const RUN_LIMIT = 240_000
/** The first start makes a database. Milliseconds. */
const START_LIMIT = 240_000
/** A failure names what was being done. */
let doing = "nothing yet"
const began = performance.now()

const seconds = () => `${((performance.now() - began) / 1000).toFixed(1)} s`

export const step = (text) => {
  doing = text
}

export const say = (text) => console.log(`ok  ${text} (after ${seconds()})`)

/** What a reader of a log needs who cannot look at the machine. */
export const explain = (error) => {
  const gigabytes = (bytes) => (bytes / 1024 ** 3).toFixed(1)
  console.error(`\nFAILED after ${seconds()}, while: ${doing}`)
  console.error(error instanceof Error ? error.message : String(error))
  console.error(
    `node ${process.version}, ${gigabytes(freemem())} of ${gigabytes(totalmem())} GB free, load ${loadavg()[0].toFixed(1)}`
  )
}

const lastLines = (text, count = 60) => (text ?? "").trimEnd().split("\n").slice(-count).join("\n")

export const run = (command, args, { expected = 0, ...options } = {}) => {
  const result = spawnSync(command, args, {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    timeout: RUN_LIMIT,
    ...options
  })
  if (result.status === expected) return result
  const how = result.error?.message ?? (result.signal === null ? `exit code ${result.status}` : result.signal)
  throw new Error(
    `${command} ${args.join(" ")} ended with ${how}\n${lastLines(result.stdout)}\n${lastLines(result.stderr)}`
  )
}

/** The files that a clone of this checkout would hold, and those that are not committed yet. */
export const trackedFiles = () =>
  run("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root })
    .stdout.split("\0")
    .filter((file) => file !== "" && existsSync(join(root, file)))

/** Copies files of this checkout into a folder, under the same names. */
export const copyFiles = (files, folder) => {
  for (const file of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    cpSync(join(root, file), join(folder, file), { verbatimSymlinks: true })
  }
}

/** A request that the registry does not answer is retried by npm, and once more here. */
export const install = (cwd, env, ...packages) => {
  const args = ["install", "--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=5", ...packages]
  try {
    return run("npm", args, { cwd, env })
  } catch (error) {
    if (!/ECONN|ETIMEDOUT|EAI_AGAIN|ENOTFOUND|network|50[0234]/.test(error.message)) throw error
    console.log(`npm install is tried once more:\n${error.message}`)
    return run("npm", args, { cwd, env })
  }
}

export const freePort = () =>
  new Promise((resolve, reject) => {
    const server = createServer()
      .on("error", reject)
      .listen(0, "127.0.0.1", () => {
        const { port } = server.address()
        server.close(() => resolve(port))
      })
  })

/** A program in the background; `text()` is all that it has said. */
export const background = (command, args, options) => {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], ...options })
  let text = ""
  const waiting = new Set()
  const take = (part) => {
    text += part
    for (const look of waiting) look()
  }
  child.stdout.setEncoding("utf8").on("data", take)
  child.stderr.setEncoding("utf8").on("data", take)
  let ended
  const closed = new Promise((resolve) => {
    child.on("error", (error) => take(`${error.message}\n`))
    // Not "exit": what it said last may come after that.
    child.on("close", (code, signal) => {
      ended = signal ?? `exit code ${code}`
      resolve()
      take("")
    })
  })
  return {
    text: () => text,
    /** Waits until it has said this. */
    says: (wanted, limit) =>
      new Promise((resolve, reject) => {
        const end = (use, value) => {
          clearTimeout(late)
          waiting.delete(look)
          use(value)
        }
        const look = () => {
          if (text.includes(wanted)) end(resolve, text)
          else if (ended !== undefined) end(reject, new Error(`${command} ended with ${ended}:\n${lastLines(text)}`))
        }
        const late = setTimeout(
          () => end(reject, new Error(`${command} did not say "${wanted}" in ${limit} ms:\n${lastLines(text)}`)),
          limit
        )
        waiting.add(look)
        look()
      }),
    /** Answers how it ended. */
    stop: async (signal = "SIGINT") => {
      if (ended !== undefined) return ended
      child.kill(signal)
      const hard = setTimeout(() => child.kill("SIGKILL"), 15_000)
      await closed
      clearTimeout(hard)
      return ended
    }
  }
}

const PORT_TAKEN = /is already in use|already runs at|EADDRINUSE/

/** Everything in one, ready; on other ports when another process has taken those that were free a moment ago. */
export const startStack = async (command, args, cwd, environment, attempts = 3) => {
  const ports = {
    LAUNCHER_PORT: await freePort(),
    CONTROL_PLANE_PORT: await freePort(),
    OTLP_GRPC_PORT: 0,
    SANDBOX_PORT: await freePort()
  }
  const set = Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, String(port)]))
  const stack = background(command, args, { cwd, env: { ...environment, ...set } })
  try {
    return { ports, stack, output: await stack.says("Serving;", START_LIMIT) }
  } catch (error) {
    await stack.stop()
    if (attempts <= 1 || !PORT_TAKEN.test(error.message)) throw error
    return startStack(command, args, cwd, environment, attempts - 1)
  }
}

/** The lines that a document shows, from the block of that language that begins so. */
export const example = (document, language, marker) => {
  const text = readFileSync(join(root, document), "utf8")
  const at = text.indexOf(`\`\`\`${language}\n${marker}`)
  if (at < 0) throw new Error(`${document} has no example that begins with ${marker}`)
  const start = text.indexOf("\n", at) + 1
  return text.slice(start, text.indexOf("```", start))
}

/** The path without what belongs to the checkout: what a stranger has. */
export const plainPath = (process.env.PATH ?? "")
  .split(delimiter)
  .filter((part) => !part.startsWith(root))
  .join(delimiter)
