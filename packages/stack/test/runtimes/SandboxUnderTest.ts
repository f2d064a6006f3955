import { KeySource, Sandbox } from "@runplane/sandbox"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { DevelopmentAuth, TOKEN_AUDIENCE, TOKEN_ISSUER } from "../../src/auth/DevelopmentAuth.ts"
import { byName, byToken, RuntimeUnderTest } from "./RuntimeUnderTest.ts"

/** The sandbox under development authentication without observers, as real runtimes have it. */
export const layerSandboxDevelopment = Layer.effect(
  RuntimeUnderTest,
  Effect.map(Sandbox, ({ address }) => ({ ...byName, address, keepsHistory: true }))
).pipe(Layer.provide(Sandbox.layer({ port: 0, devObserver: false })))

const signed = Layer.unwrap(
  Effect.map(DevelopmentAuth, ({ keysUrl }) =>
    Sandbox.layerSigned({ issuer: TOKEN_ISSUER, audience: TOKEN_AUDIENCE }, { port: 0, compactOnTerminal: true }).pipe(
      Layer.provide(KeySource.layerUrl(keysUrl))
    )
  )
)

/** The sandbox with signed tokens, and with the memory of a durable store. */
export const layerSandboxSigned = Layer.effect(
  RuntimeUnderTest,
  Effect.gen(function* () {
    const { address } = yield* Sandbox
    return { ...(yield* byToken), address, keepsHistory: false }
  })
).pipe(Layer.provide(signed), Layer.provide(DevelopmentAuth.layer({ port: 0 })))
