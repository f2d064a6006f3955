import { startRuntime } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { DevelopmentAuth, TOKEN_AUDIENCE, TOKEN_ISSUER } from "../../src/auth/DevelopmentAuth.ts"
import { longSessionSuite, runtimeSuite } from "./RuntimeSuite.ts"
import { byName, byToken, RuntimeUnderTest } from "./RuntimeUnderTest.ts"
import { shortSessions } from "./ShortSessions.ts"

const developmentWith = (env: Readonly<Record<string, string>>, keepsHistory: boolean) =>
  Layer.effect(
    RuntimeUnderTest,
    Effect.map(startRuntime(env), (address) => ({ ...byName, address, keepsHistory }))
  )

const inMemory = developmentWith({ MACP_MEMORY_ONLY: "1" }, true)
/** Its own default: sessions in files, and no history of one that has ended. */
const inFiles = developmentWith({}, false)
/** Files again, with the history of ended sessions. */
const inFilesKept = developmentWith({ MACP_COMPACT_TERMINAL_LOGS: "0" }, true)

/** Keys fetched by address, and sessions on disk: what a production runtime has. */
const signed = Layer.effect(
  RuntimeUnderTest,
  Effect.gen(function* () {
    const { keysUrl } = yield* DevelopmentAuth
    const address = yield* startRuntime({
      MACP_AUTH_ISSUER: TOKEN_ISSUER,
      MACP_AUTH_AUDIENCE: TOKEN_AUDIENCE,
      MACP_AUTH_JWKS_URL: keysUrl
    })
    return { ...(yield* byToken), address, keepsHistory: false }
  })
).pipe(Layer.provide(DevelopmentAuth.layer({ port: 0 })))

runtimeSuite("macp-runtime under development authentication", inMemory)
runtimeSuite("macp-runtime under development authentication, with sessions in files", inFiles)
runtimeSuite("macp-runtime with signed tokens", signed)
longSessionSuite("macp-runtime under development authentication", inMemory)
longSessionSuite("macp-runtime with signed tokens", signed)
shortSessions("macp-runtime under development authentication, with sessions in files", inFiles)
shortSessions("macp-runtime with signed tokens", signed)
shortSessions("macp-runtime with sessions in files, and their history kept", inFilesKept)
