import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import { ObserverSettings } from "../../src/observe/ObserverSettings.ts"

const settingsOf = (env: Readonly<Record<string, string>>) =>
  Effect.provide(ObserverSettings, ObserverSettings.layer).pipe(
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: { NODE_ENV: "test", ...env } })))
  )

describe("the settings of the observers", () => {
  it.effect("say never, and not all the time, with an interval of 0", () =>
    Effect.gen(function* () {
      const { streamIdleTimeoutMs, recoveryIntervalMs } = yield* settingsOf({
        RUN_TAKE_OVER_INTERVAL_MS: "0",
        STREAM_IDLE_TIMEOUT_MS: "0"
      })
      assert.strictEqual(recoveryIntervalMs, Number.POSITIVE_INFINITY)
      assert.strictEqual(streamIdleTimeoutMs, Number.POSITIVE_INFINITY)
    })
  )
})
