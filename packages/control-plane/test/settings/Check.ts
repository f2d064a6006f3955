import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import { checkControlPlaneSettings } from "../../src/SettingsCheck.ts"

/** The check before the start, with these variables, and the lines that it logs. */
export const check = Effect.fnUntraced(function* (env: Readonly<Record<string, string>>) {
  const lines: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => {
    lines.push(`${logLevel}: ${[message].flat().join(" ")}`)
  })
  const outcome = yield* Effect.result(checkControlPlaneSettings).pipe(
    Effect.provide([
      NodeFileSystem.layer,
      Logger.layer([logger]),
      ConfigProvider.layer(ConfigProvider.fromEnv({ env: { NODE_ENV: "test", ...env } }))
    ])
  )
  return { lines, outcome }
})
