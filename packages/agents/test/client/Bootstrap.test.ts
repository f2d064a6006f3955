import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import { Bootstrap, decodeBootstrap } from "../../src/client/Bootstrap.ts"
import { balancedHints, bootstrapFor, degraded } from "../support/Bridge.ts"

const minimal = { participant_id: "a", session_id: "s", mode: "m", runtime_url: "127.0.0.1:1" }

/** Files by path, nothing else. */
const files = (contents: Readonly<Record<string, string>>) =>
  FileSystem.layerNoop({
    readFileString: (path) => {
      const text = contents[path]
      return text === undefined ? Effect.die(`no file ${path}`) : Effect.succeed(text)
    }
  })

const read = (env: Record<string, string>, contents: Readonly<Record<string, string>>) =>
  Bootstrap.pipe(
    Effect.provide(
      Layer.fresh(Bootstrap.layer).pipe(
        Layer.provide(files(contents)),
        Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env })))
      )
    )
  )

describe("the bootstrap file", () => {
  it.effect("is read from either variable, the newer name first", () =>
    Effect.gen(function* () {
      const contents = { new: JSON.stringify(minimal), old: JSON.stringify({ ...minimal, participant_id: "b" }) }
      const first = yield* read({ PROTO_BOOTSTRAP_FILE: "new", MACP_BOOTSTRAP_FILE: "old" }, contents)
      const second = yield* read({ MACP_BOOTSTRAP_FILE: "old" }, contents)
      assert.deepStrictEqual([first.participant_id, second.participant_id], ["a", "b"])
    })
  )

  it.effect("needs only the participant, the address and the session", () =>
    Effect.gen(function* () {
      const file = yield* decodeBootstrap(JSON.stringify({ ...minimal, unknown: true }))
      assert.deepStrictEqual([file.mode_version, file.configuration_version], ["1.0.0", "config.default"])
    })
  )

  it.effect("keeps everything the launch service writes", () =>
    Effect.gen(function* () {
      const written = bootstrapFor("incident-commander", {
        runtimeUrl: "127.0.0.1:1",
        sessionId: "s",
        policyVersion: "policy.default",
        hints: balancedHints,
        incident: degraded
      })
      assert.deepStrictEqual(yield* decodeBootstrap(JSON.stringify(written)), written)
    })
  )

  it.effect("never shows its credential when it cannot be understood", () =>
    Effect.gen(function* () {
      const failure = yield* Effect.flip(decodeBootstrap(JSON.stringify({ auth_token: "secret", participant_id: 7 })))
      assert.notInclude(failure.message, "secret")
    })
  )
})
