import { fileURLToPath } from "node:url"
import { type Ended, freePorts, type Program, programFile, startProgram } from "@runplane/testing"
import * as Effect from "effect/Effect"

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url))

export interface StackProcess extends Program {
  readonly ports: { readonly launcher: number; readonly controlPlane: number; readonly sandbox: number }
  /** Sends the signal; answers how it ended, and after how many milliseconds. */
  readonly stop: (signal: NodeJS.Signals) => Effect.Effect<Ended & { readonly ms: number }>
}

export interface StackProcessOptions {
  readonly args?: ReadonlyArray<string>
  readonly env?: Readonly<Record<string, string>>
}

/** Settings of the environment of the tests that would change the stack. */
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
  const [launcher = 0, controlPlane = 0, sandbox = 0, grpc = 0] = yield* freePorts(4)
  const given = Object.entries(process.env).filter(([name]) => !UNWANTED.includes(name))
  const file = programFile("all-in-one", MAIN)
  const program = yield* startProgram(file.main, {
    args,
    env: {
      ...file.env,
      ...Object.fromEntries(given),
      LAUNCHER_PORT: String(launcher),
      CONTROL_PLANE_PORT: String(controlPlane),
      SANDBOX_PORT: String(sandbox),
      OTLP_GRPC_PORT: String(grpc),
      ...env
    }
  })
  const stop: StackProcess["stop"] = Effect.fnUntraced(function* (signal) {
    const started = performance.now()
    const how = yield* program.kill(signal)
    return { ...how, ms: performance.now() - started }
  })
  return { ...program, ports: { launcher, controlPlane, sandbox }, stop } satisfies StackProcess
})
