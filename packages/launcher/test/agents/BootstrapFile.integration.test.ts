import { spawnSync } from "node:child_process"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import { assert, layer } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import { bootstrapFile, sweepBootstrapFiles, UNKNOWN_FILE_LIFE_MS } from "../../src/agents/BootstrapFile.ts"

const platform = Layer.merge(NodeFileSystem.layer, NodePath.layer)

/** The id of a process that has ended a moment ago. */
const endedProcess = Effect.sync(() => spawnSync("/bin/true").pid)

layer(platform, { excludeTestServices: true })("bootstrap files", (it) => {
  it.effect("that an ended service left behind are removed at the next start, and no others", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const folder = path.join(yield* fs.makeTempDirectoryScoped(), "bootstrap")
      const { file: own, rewrite } = yield* bootstrapFile(folder, "run", "lead", { auth_token: "first" })
      yield* rewrite({ auth_token: "secret" })
      assert.deepStrictEqual(yield* fs.readDirectory(folder), [path.basename(own)])
      assert.strictEqual((yield* fs.stat(own)).mode & 0o777, 0o600)
      const write = (name: string, content: object | string) => {
        const text = typeof content === "string" ? content : JSON.stringify(content)
        return Effect.as(fs.writeFileString(path.join(folder, name), text), path.join(folder, name))
      }
      yield* write("left.json", { launcher: { pid: yield* endedProcess, started: "1" } })
      // Only where the system tells when a process started.
      const tells = yield* fs.exists("/proc/self/stat")
      if (tells) yield* write("reused.json", { launcher: { pid: process.pid, started: "1" } })
      const old = yield* write("cut-and-old.json", "{")
      yield* write("cut.json", "{")
      yield* write("other.txt", "{")
      const longAgo = ((yield* Clock.currentTimeMillis) - UNKNOWN_FILE_LIFE_MS - 1) / 1_000
      yield* fs.utimes(old, longAgo, longAgo)

      assert.strictEqual(yield* sweepBootstrapFiles(folder), tells ? 3 : 2)
      assert.sameMembers(yield* fs.readDirectory(folder), [path.basename(own), "cut.json", "other.txt"])
      assert.strictEqual(yield* sweepBootstrapFiles(folder), 0)
    }).pipe(Effect.scoped)
  )

  it.effect("are none where there is no folder yet", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* sweepBootstrapFiles("/nowhere/at/all"), 0)
    })
  )
})
