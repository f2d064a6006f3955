import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Logger from "effect/Logger"
import { warnOfSharedKeyFile } from "../src/index.ts"

it.effect("a private key that every user can read leaves one warning, another key none", () =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const path = yield* files.makeTempFileScoped()
    const lines: Array<string> = []
    const keep = Logger.make(({ logLevel, message }) => void lines.push(`${logLevel} ${String(message)}`))
    const check = warnOfSharedKeyFile(path).pipe(Effect.provide(Logger.layer([keep])))
    for (const [mode, expected] of [
      [0o600, []],
      [0o640, []],
      [0o644, [`Warn every user of this machine can read the private key ${path}: run chmod 600 "${path}"`]]
    ] as const) {
      lines.length = 0
      yield* files.chmod(path, mode)
      yield* check
      assert.deepStrictEqual(lines, [...expected])
    }
  }).pipe(Effect.provide(NodeServices.layer))
)
