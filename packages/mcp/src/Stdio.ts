import { randomBytes } from "node:crypto"
import * as McpServer from "effect/ai/McpServer"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import { type Backend, type Caller, type Confirmations, CurrentCaller } from "./Backend.ts"
import { withoutNulls } from "./Messages.ts"
import { registrations, serverOptions } from "./Server.ts"

/** Confirmations of one process: tokens end with it. */
export const memoryConfirmations = (): Confirmations => {
  const secret = randomBytes(32)
  const used = new Map<string, number>()
  return {
    secret: Effect.succeed(secret),
    redeem: (nonce, expiresAt) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        for (const [other, end] of used) if (end <= now) used.delete(other)
        if (used.has(nonce)) return false
        used.set(nonce, expiresAt)
        return true
      })
  }
}

/** Standard input with one message a line, in the form that the module reads. */
const layerMessages = Layer.effect(
  Stdio.Stdio,
  Effect.map(Stdio.Stdio, (stdio) => ({
    ...stdio,
    stdin: stdio.stdin.pipe(
      Stream.decodeText,
      Stream.splitLines,
      Stream.map((line) => `${withoutNulls(line)}\n`),
      Stream.encodeText
    )
  }))
)

/** The server on standard input and output, for one caller: `runplane mcp`. */
export const layerMcpStdio = (backend: Backend, caller: Caller) => {
  const asCaller = McpServer.middleware((effect) => Effect.provideService(effect, CurrentCaller, caller))
  return McpServer.layerStdio({
    ...serverOptions,
    registrations: registrations(backend).pipe(Layer.merge(asCaller.layerGlobal))
  }).pipe(Layer.provide(layerMessages))
}
