import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import { TestClock } from "effect/testing"
import { PackRegistry } from "../../src/catalog/PackRegistry.ts"
import { LaunchPressure } from "../../src/common/LaunchPressure.ts"
import { type MemoryTree, memoryFiles } from "../fixtures/MemoryFiles.ts"
import { packYaml, smallPack } from "../fixtures/Packs.ts"
import { settingsLayer } from "../fixtures/Settings.ts"

/** A registry over files that the test may change, and the number of times that the pack was read. */
const registryOver = (registryCacheTtlMs: number) => {
  const tree: Record<string, MemoryTree[string]> = { ...smallPack() }
  const reads = { count: 0 }
  const counting = Layer.effect(
    FileSystem.FileSystem,
    Effect.map(FileSystem.FileSystem, (fs) => ({
      ...fs,
      readFile: (path: string) =>
        Effect.suspend(() => {
          if (path.endsWith("pack.yaml")) reads.count++
          return Effect.andThen(Effect.yieldNow, fs.readFile(path))
        })
    }))
  ).pipe(Layer.provideMerge(memoryFiles(tree)))
  const layer = PackRegistry.layer.pipe(
    Layer.provide(counting),
    Layer.provide(settingsLayer({ packsDir: "/packs", registryCacheTtlMs }))
  )
  return { tree, reads, layer }
}

const packName = Effect.flatMap(PackRegistry, (registry) =>
  Effect.map(registry.catalog, ({ packs }) => packs[0]?.metadata.name)
)
const renamed = packYaml().replace("Demo", "Renamed")

describe("the pack registry", () => {
  it.effect("reads the files at every call when nothing is cached", () => {
    const { tree, layer } = registryOver(0)
    return Effect.gen(function* () {
      assert.strictEqual(yield* packName, "Demo")
      tree["/packs/demo/pack.yaml"] = renamed
      assert.strictEqual(yield* packName, "Renamed")
    }).pipe(Effect.provide(layer))
  })

  it.effect("serves one reading for the cache time", () => {
    const { tree, reads, layer } = registryOver(1_000)
    return Effect.gen(function* () {
      yield* packName
      tree["/packs/demo/pack.yaml"] = renamed
      yield* TestClock.adjust("999 millis")
      assert.strictEqual(yield* packName, "Demo")
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* packName, "Renamed")
      assert.strictEqual(reads.count, 2)
    }).pipe(Effect.provide(layer))
  })

  it.effect.each([0, 1_000])("shares a reading among simultaneous calls (cache time %s ms)", (ttl) => {
    const { reads, layer } = registryOver(ttl)
    return Effect.gen(function* () {
      yield* Effect.all([packName, packName, packName, packName], { concurrency: "unbounded" })
      assert.strictEqual(reads.count, 1)
    }).pipe(Effect.provide(layer))
  })

  it.effect("serves one reading for a second while launches wait", () => {
    const { tree, reads, layer } = registryOver(0)
    const pressure = { waiting: 1 }
    return Effect.gen(function* () {
      yield* packName
      tree["/packs/demo/pack.yaml"] = renamed
      yield* TestClock.adjust("900 millis")
      assert.strictEqual(yield* packName, "Demo")
      assert.strictEqual(reads.count, 1)
      yield* TestClock.adjust("100 millis")
      assert.strictEqual(yield* packName, "Renamed")
    }).pipe(Effect.provide(layer.pipe(Layer.provide(Layer.succeed(LaunchPressure, pressure)))))
  })

  it.effect("does not keep a failed reading", () => {
    const { tree, layer } = registryOver(1_000)
    return Effect.gen(function* () {
      tree["/packs/demo/pack.yaml"] = "a: ["
      const failures = yield* Effect.all([Effect.flip(packName), Effect.flip(packName)], { concurrency: "unbounded" })
      assert.deepStrictEqual(
        failures.map(({ errorCode }) => errorCode),
        ["INVALID_PACK_DATA", "INVALID_PACK_DATA"]
      )
      tree["/packs/demo/pack.yaml"] = renamed
      assert.strictEqual(yield* packName, "Renamed")
    }).pipe(Effect.provide(layer))
  })

  it.effect("keeps a reading going for the others when the call that began it is interrupted", () => {
    const { reads, layer } = registryOver(0)
    return Effect.gen(function* () {
      const first = yield* Effect.forkChild(packName, { startImmediately: true })
      const second = yield* Effect.forkChild(packName, { startImmediately: true })
      yield* Fiber.interrupt(first)
      assert.strictEqual(yield* Fiber.join(second), "Demo")
      assert.strictEqual(reads.count, 1)
    }).pipe(Effect.provide(layer))
  })
})
