import { type ChildProcess, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url))

export class ServiceEnded extends Data.TaggedError("ServiceEnded")<{ readonly output: string }> {
  override get message(): string {
    return `the service ended:\n${this.output}`
  }
}

/** The control plane as it runs in production: a process of its own, with its settings in the environment. */
export const startService = Effect.fnUntraced(function* (environment: Readonly<Record<string, string>>) {
  let output = ""
  const exited = yield* Deferred.make<number | string>()
  const listening = yield* Deferred.make<string, ServiceEnded>()
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const started = spawn(process.execPath, [MAIN], {
        env: { PATH: process.env["PATH"] ?? "", NODE_ENV: "development", HOST: "127.0.0.1", PORT: "0", ...environment },
        stdio: ["ignore", "pipe", "pipe"]
      })
      const read = (chunk: Buffer) => {
        output += chunk.toString()
        const url = /listening on (http:\/\/[\w.:]+)/.exec(output)?.[1]
        if (url !== undefined) Deferred.doneUnsafe(listening, Effect.succeed(url))
      }
      started.stdout.on("data", read)
      started.stderr.on("data", read)
      started.once("exit", (code, signal) => {
        Deferred.doneUnsafe(exited, Effect.succeed(code ?? signal ?? ""))
        Deferred.doneUnsafe(listening, Effect.fail(new ServiceEnded({ output })))
      })
      return started
    }),
    (started) => kill(started, "SIGKILL")
  )
  return {
    /** Its address, once it listens. */
    url: Deferred.await(listening),
    /** Its exit code, or the signal that ended it. */
    exited: Deferred.await(exited),
    isAlive: () => child.exitCode === null && child.signalCode === null,
    output: () => output,
    kill: (signal: "SIGKILL" | "SIGTERM") => Effect.andThen(kill(child, signal), Deferred.await(exited))
  }
})

const kill = (child: ChildProcess, signal: "SIGKILL" | "SIGTERM") =>
  Effect.callback<void>((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    child.once("exit", () => resume(Effect.void))
    child.kill(signal)
  })
