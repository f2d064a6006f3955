import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { fileTarget } from "@runplane/archive"
import * as Effect from "effect/Effect"

const withFolder = <A, E>(use: (folder: string) => Effect.Effect<A, E>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "runplane-archive-"))),
    use,
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
  )

const bytesOf = (text: string) => new TextEncoder().encode(text)

describe("an archive in a directory", () => {
  it.live("makes, replaces, lists, reads and removes files", () =>
    withFolder((folder) =>
      Effect.gen(function* () {
        const target = fileTarget(join(folder, "deep", "archive"))
        assert.deepStrictEqual(yield* target.list(""), [])
        yield* target.put("events/dt=1/a.parquet", bytesOf("one"))
        yield* target.put("runs/dt=1/b.parquet", bytesOf("two"))
        yield* target.put("events/dt=1/a.parquet", bytesOf("replaced"))
        assert.deepStrictEqual(yield* target.list(""), ["events/dt=1/a.parquet", "runs/dt=1/b.parquet"])
        assert.deepStrictEqual(yield* target.list("runs/"), ["runs/dt=1/b.parquet"])
        assert.strictEqual(yield* target.size("events/dt=1/a.parquet"), 8)
        assert.deepStrictEqual([...(yield* target.read("events/dt=1/a.parquet", 1, 3))], [...bytesOf("ep")])
        yield* target.remove("events/dt=1/a.parquet")
        yield* target.remove("events/dt=1/a.parquet")
        const fault = yield* Effect.flip(target.size("events/dt=1/a.parquet"))
        assert.strictEqual(fault.kind, "missing")
      })
    )
  )

  it.live("replaces what a killed process left of a file, and never lists it", () =>
    withFolder((folder) =>
      Effect.gen(function* () {
        writeFileSync(join(folder, ".a.parquet.1234.tmp"), "half")
        const target = fileTarget(folder)
        assert.deepStrictEqual(yield* target.list(""), [])
        yield* target.put("a.parquet", bytesOf("whole"))
        assert.deepStrictEqual(readdirSync(folder), ["a.parquet"])
      })
    )
  )

  it.live("makes files and directories for its user alone", () =>
    withFolder((folder) =>
      Effect.gen(function* () {
        yield* fileTarget(join(folder, "archive")).put("events/dt=1/a.parquet", bytesOf("one"))
        const modeOf = (path: string) => statSync(join(folder, path)).mode & 0o777
        for (const path of ["archive", "archive/events", "archive/events/dt=1"]) {
          assert.strictEqual(modeOf(path), 0o700, path)
        }
        assert.strictEqual(modeOf("archive/events/dt=1/a.parquet"), 0o600)
      })
    )
  )

  it.live("says when a path is not a directory", () =>
    withFolder((folder) =>
      Effect.gen(function* () {
        writeFileSync(join(folder, "events"), "a file")
        const fault = yield* Effect.flip(fileTarget(folder).put("events/dt=1/a.parquet", bytesOf("x")))
        assert.include(fault.message, "events/dt=1/a.parquet")
        assert.deepStrictEqual(readdirSync(folder), ["events"])
      })
    )
  )

  it.live("says when it may not write", () =>
    withFolder((folder) =>
      Effect.gen(function* () {
        chmodSync(folder, 0o500)
        // Modes do not bind root, and the kernel refuses new directories there also to root.
        const closed = process.getuid?.() === 0 ? "/sys" : folder
        const fault = yield* Effect.flip(fileTarget(closed).put("events/a.parquet", bytesOf("x")))
        assert.strictEqual(fault.kind, "refused")
      })
    )
  )
})
