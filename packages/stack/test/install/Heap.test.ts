import { spawnSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { temporaryFolder } from "@runplane/postgres"
import * as Effect from "effect/Effect"
import { ROOT } from "../support/DocumentBlocks.ts"

interface Memory {
  readonly given: string
  readonly limit: number
  readonly machine: number
}

const { heapFlags }: { readonly heapFlags: (memory: Memory) => ReadonlyArray<string> } = await import(
  pathToFileURL(join(ROOT, "scripts/heap/flags.mjs")).href
)

const MIB = 1024 * 1024
const GIB = 1024
/** What libuv says of a cgroup without a limit: version 2, version 1, and version 1 by the kernel's own number. */
const WITHOUT = [0, 2 ** 64, 2 ** 63 - 4096]

const flags = (limit: number, machine: number, given = "") =>
  heapFlags({ given, limit: limit * MIB, machine: machine * MIB }).join(" ")

describe("the flags of the heap", () => {
  it("are half of the limit of the container", () => {
    assert.strictEqual(flags(256, 24 * GIB), "--max-old-space-size=128 --max-semi-space-size=8")
    assert.strictEqual(flags(512, 24 * GIB), "--max-old-space-size=256 --max-semi-space-size=16")
    assert.strictEqual(flags(GIB, 24 * GIB), "--max-old-space-size=512 --max-semi-space-size=16")
    assert.strictEqual(flags(6 * GIB, 24 * GIB), "--max-old-space-size=3072 --max-semi-space-size=16")
    assert.strictEqual(flags(16 * GIB, 24 * GIB), "--max-old-space-size=4096 --max-semi-space-size=16")
  })

  it("are half of the machine without a limit, and 2,000 MiB at most", () => {
    for (const limit of WITHOUT) {
      const machine = (mib: number) => heapFlags({ given: "", limit, machine: mib * MIB }).join(" ")
      assert.strictEqual(machine(24 * GIB), "--max-old-space-size=2000 --max-semi-space-size=16")
      assert.strictEqual(machine(GIB), "--max-old-space-size=512 --max-semi-space-size=16")
      assert.strictEqual(machine(300), "--max-old-space-size=150 --max-semi-space-size=8")
    }
    // A limit that the machine does not reach is none.
    assert.strictEqual(flags(4 * GIB, 2 * GIB), flags(0, 2 * GIB))
  })

  it("leave out the sizes that the process gets anyway", () => {
    for (const given of ["--max-old-space-size=300", "--max_old_space_size=300", "--max-heap-size=300"]) {
      assert.strictEqual(flags(GIB, 24 * GIB, given), "--max-semi-space-size=16")
    }
    const percentage = "--no-warnings --max-old-space-size-percentage=60 --max-semi-space-size=4"
    assert.strictEqual(flags(GIB, 24 * GIB, percentage), "")
    assert.strictEqual(
      flags(GIB, 24 * GIB, "--enable-source-maps"),
      "--max-old-space-size=512 --max-semi-space-size=16"
    )
  })
})

const PROBE = `
import { getHeapStatistics } from "node:v8"
console.log(JSON.stringify({
  pid: process.pid, flags: process.execArgv, args: process.argv.slice(2), limit: getHeapStatistics().heap_size_limit
}))
process.exitCode = 7
`

const start = (options: string, ...args: ReadonlyArray<string>) =>
  spawnSync(process.execPath, [join(ROOT, "scripts/heap/start.mjs"), ...args], {
    env: { ...process.env, NODE_OPTIONS: options },
    encoding: "utf8"
  })

describe("start.mjs", () => {
  it.effect("becomes the program, with the flags", () =>
    Effect.gen(function* () {
      const probe = join(yield* temporaryFolder, "probe.mjs")
      yield* Effect.sync(() => writeFileSync(probe, PROBE))
      const { pid, status, stdout } = start("", probe, "--print-settings", "two words")
      const { limit, ...found } = JSON.parse(stdout)
      assert.strictEqual(status, 7)
      assert.deepStrictEqual(found, {
        pid,
        flags: found.flags,
        args: ["--print-settings", "two words"]
      })
      const [oldSpace = "", semiSpace = ""] = found.flags
      const sizes = [oldSpace, semiSpace].map((flag: string) => Number(/^--max-\w+-space-size=(\d+)$/.exec(flag)?.[1]))
      // V8 adds the young generation: three times a half of it.
      assert.strictEqual(limit, ((sizes[0] ?? 0) + 3 * (sizes[1] ?? 0)) * MIB)
    })
  )

  it.effect("leaves the heap of NODE_OPTIONS", () =>
    Effect.gen(function* () {
      const probe = join(yield* temporaryFolder, "probe.mjs")
      yield* Effect.sync(() => writeFileSync(probe, PROBE))
      const { stdout } = start("--max-old-space-size=333 --max-semi-space-size=4", probe)
      const { flags: found, limit } = JSON.parse(stdout)
      assert.deepStrictEqual(found, [])
      assert.strictEqual(limit, (333 + 3 * 4) * MIB)
    })
  )

  it("names what is missing", () => {
    const { status, stderr } = start("")
    assert.strictEqual(status, 2)
    assert.strictEqual(stderr, "usage: node start.mjs PROGRAM [ARGUMENTS]\n")
  })
})
