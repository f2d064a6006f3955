import { createServer, type Http2Server } from "node:http2"
import { create } from "@bufbuild/protobuf"
import type { ServiceImpl } from "@connectrpc/connect"
import { connectNodeAdapter } from "@connectrpc/connect-node"
import { MACPRuntimeService, SendResponseSchema } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { AgentClient } from "../../src/client/AgentClient.ts"
import { Bootstrap } from "../../src/client/Bootstrap.ts"
import { balancedHints, bootstrapFor, degraded } from "./Bridge.ts"

export type Handlers = Partial<ServiceImpl<typeof MACPRuntimeService>>

const addressOf = (server: Http2Server): string => {
  const bound = server.address()
  return typeof bound === "object" && bound !== null ? `127.0.0.1:${bound.port}` : ""
}

/** A runtime that misbehaves as the test wants. */
export const runtime = (handlers: Handlers) =>
  Effect.acquireRelease(
    Effect.callback<Http2Server>((resume) => {
      const server = createServer(
        connectNodeAdapter({ routes: (router) => router.service(MACPRuntimeService, handlers) })
      )
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => server.close())
  ).pipe(Effect.map(addressOf))

export const launchOn = (runtimeUrl: string) => ({
  runtimeUrl,
  sessionId: "0197f3a2-6b1e-7c44-9d1a-2f5c8e7b9a21",
  policyVersion: "policy.default",
  hints: balancedHints,
  incident: degraded
})

export const clientOn = (runtimeUrl: string) =>
  Layer.fresh(AgentClient.layer).pipe(
    Layer.provide(Bootstrap.layerMemory(bootstrapFor("impact-analyst", launchOn(runtimeUrl))))
  )

export const refusal = (code: string, reasons: ReadonlyArray<string> = []) =>
  create(SendResponseSchema, {
    ack: {
      ok: false,
      error: { code, details: new TextEncoder().encode(reasons.length === 0 ? "" : JSON.stringify({ reasons })) }
    }
  })
