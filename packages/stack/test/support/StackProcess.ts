import { type ChildProcess, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { freePorts } from "./Sockets.ts"

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly stdout: ReadonlyArray<string>
  readonly stderr: ReadonlyArray<string>
}

export interface StackProcess {
  readonly pid: number
  readonly ports: { readonly launcher: number; readonly controlPlane: number; readonly sandbox: number }
  /** Waits for a line of stdout that holds the text; answers undefined when the process ends without it. */
  readonly line: (text: string) => Effect.Effect<string | undefined>
  readonly ended: Effect.Effect<Ended>
  /** Sends the signal; answers how it ended, and after how many milliseconds. */
  readonly stop: (signal: NodeJS.Signals) => Effect.Effect<Ended & { readonly ms: number }>
}

export interface StackProcessOptions {
  readonly args?: ReadonlyArray<string>
  readonly env?: Readonly<Record<string, string>>
}

/** Settings of whoever runs the tests that would change what the stack does. */
const UNWANTED = [
  "DATABASE_URL",
  "RUNTIME_ADDRESS",
  "AUTH_API_KEYS",
  "AUTH_PORT",
  "DEV_AUTH",
  "NODE_ENV",
  "LOG_LEVEL",
  "HOST",
  "PACKS_DIR"
]

/** Runs the program as `npm start` does, on free ports; it is killed with the scope if it still runs. */
export const startStack = Effect.fnUntraced(function* ({ args = [], env = {} }: StackProcessOptions = {}) {
  const [launcher = 0, controlPlane = 0, sandbox = 0] = yield* freePorts(3)
  const given = Object.entries(process.env).filter(([name]) => !UNWANTED.includes(name))
  return yield* Effect.acquireRelease(
    Effect.sync(() => {
      const child = spawn(process.execPath, [MAIN, ...args], {
        stdio: ["ignore", "pipe", "pipe"],
        env: {
          ...Object.fromEntries(given),
          LAUNCHER_PORT: String(launcher),
          CONTROL_PLANE_PORT: String(controlPlane),
          SANDBOX_PORT: String(sandbox),
          ...env
        }
      })
      return { child, running: watch(child, { launcher, controlPlane, sandbox }) }
    }),
    ({ child, running }) => {
      child.kill("SIGKILL")
      return running.ended
    }
  ).pipe(Effect.map(({ running }) => running))
})

const watch = (child: ChildProcess, ports: StackProcess["ports"]): StackProcess => {
  const stdout: Array<string> = []
  const stderr: Array<string> = []
  const waiting = new Set<() => void>()
  const end = Deferred.makeUnsafe<Ended>()
  let over = false
  const wake = () => {
    for (const look of waiting) look()
  }
  collect(child, "stdout", stdout, wake)
  collect(child, "stderr", stderr, wake)
  child.once("close", (code) => {
    over = true
    Deferred.doneUnsafe(end, Effect.succeed({ code, stdout, stderr }))
    wake()
  })
  const ended = Deferred.await(end)
  return {
    pid: child.pid ?? 0,
    ports,
    ended,
    line: (text) =>
      Effect.callback((resume) => {
        const look = () => {
          const found = stdout.find((line) => line.includes(text))
          if (found === undefined && !over) return
          waiting.delete(look)
          resume(Effect.succeed(found))
        }
        waiting.add(look)
        look()
        return Effect.sync(() => waiting.delete(look))
      }),
    stop: (signal) =>
      Effect.suspend(() => {
        const started = performance.now()
        child.kill(signal)
        return Effect.map(ended, (how) => ({ ...how, ms: performance.now() - started }))
      })
  }
}

const collect = (child: ChildProcess, name: "stdout" | "stderr", lines: Array<string>, wake: () => void) => {
  let open = ""
  child[name]?.setEncoding("utf8")
  child[name]?.on("data", (text: string) => {
    const parts = (open + text).split("\n")
    open = parts.pop() ?? ""
    lines.push(...parts.filter((line) => line.trim() !== ""))
    wake()
  })
}
