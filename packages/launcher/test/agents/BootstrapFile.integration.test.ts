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
      const position = { folder, reader: undefined }
      const { file: own, rewrite } = yield* bootstrapFile(position, "run", "lead", { auth_token: "first" })
      yield* rewrite({ auth_token: "secret" })
      assert.match(path.basename(own), /^run_lead_\d+\.json$/)
      assert.deepStrictEqual(yield* fs.readDirectory(path.dirname(own)), [path.basename(own)])
      const mode = (name: string) => Effect.map(fs.stat(name), (info) => info.mode & 0o777)
      assert.strictEqual(yield* mode(own), 0o600)
      assert.strictEqual(yield* mode(path.dirname(own)), 0o700)
      assert.strictEqual(yield* mode(folder), 0o700)
      const kept = path.basename(path.dirname(own))
      const write = Effect.fnUntraced(function* (name: string, content: object | string) {
        const file = path.join(folder, `agent-${name}`, "run_lead_1.json")
        yield* fs.makeDirectory(path.dirname(file))
        yield* fs.writeFileString(file, typeof content === "string" ? content : JSON.stringify(content))
        return file
      })
      yield* write("left", { launcher: { pid: yield* endedProcess, started: "1" } })
      // Only where the system shows when a process started.
      const hasStartTimes = yield* fs.exists("/proc/self/stat")
      if (hasStartTimes) yield* write("reused", { launcher: { pid: process.pid, started: "1" } })
      const old = yield* write("cut-and-old", "{")
      yield* write("cut", "{")
      yield* fs.makeDirectory(path.join(folder, "agent-empty"))
      yield* fs.writeFileString(path.join(folder, "other.txt"), "{")
      const longAgo = ((yield* Clock.currentTimeMillis) - UNKNOWN_FILE_LIFE_MS - 1) / 1_000
      yield* fs.utimes(old, longAgo, longAgo)

      assert.strictEqual(yield* sweepBootstrapFiles(folder), hasStartTimes ? 3 : 2)
      assert.sameMembers(yield* fs.readDirectory(folder), [kept, "agent-cut", "agent-empty", "other.txt"])
      assert.strictEqual(yield* sweepBootstrapFiles(folder), 0)
    }).pipe(Effect.scoped)
  )

  it.effect("go with their folder", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      yield* Effect.scoped(bootstrapFile({ folder, reader: undefined }, "run", "lead", {}))
      assert.deepStrictEqual(yield* fs.readDirectory(folder), [])
    }).pipe(Effect.scoped)
  )

  it.effect("are not written into a folder of another user", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      // Root may change it all the same, other users may not.
      const folder = process.getuid?.() === 0 ? yield* fs.makeTempDirectoryScoped() : "/"
      if (folder !== "/") yield* fs.chown(folder, 65534, 65534)
      const refused = yield* Effect.flip(bootstrapFile({ folder, reader: undefined }, "run", "lead", {}))
      assert.strictEqual(refused.reason._tag, "PermissionDenied")
    }).pipe(Effect.scoped)
  )

  it.effect("are none before the folder exists", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* sweepBootstrapFiles("/nowhere/at/all"), 0)
    })
  )
})
