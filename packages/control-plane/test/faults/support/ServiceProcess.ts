import { fileURLToPath } from "node:url"
import { programFile, startProgram } from "@runplane/testing"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

const MAIN = fileURLToPath(new URL("../../../src/main.ts", import.meta.url))
const LISTENING = /listening on (http:\/\/[\w.:]+)/

export class ServiceEnded extends Data.TaggedError("ServiceEnded")<{ readonly output: string }> {
  override get message(): string {
    return `the service ended:\n${this.output}`
  }
}

/** The control plane as it runs in production: a process of its own, with its settings in the environment. */
export const startService = Effect.fnUntraced(function* (environment: Readonly<Record<string, string>>) {
  const { env, main } = programFile("control-plane", MAIN)
  const program = yield* startProgram(main, {
    env: {
      PATH: process.env["PATH"] ?? "",
      NODE_ENV: "development",
      HOST: "127.0.0.1",
      PORT: "0",
      ...env,
      ...environment
    }
  })
  /** Its address, once it listens. */
  const url = Effect.flatMap(program.line(LISTENING), (line) => {
    const found = LISTENING.exec(line ?? "")?.[1]
    return found === undefined ? Effect.fail(new ServiceEnded({ output: program.output() })) : Effect.succeed(found)
  })
  return { ...program, url }
})
