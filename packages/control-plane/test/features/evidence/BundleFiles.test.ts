import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import {
  type BundleFile,
  EvidenceChanged,
  fitsOneZip,
  type HashedFile,
  hashed,
  hashedText,
  hashedTogether,
  makeZipWriter
} from "../../../src/features/evidence/BundleFiles.ts"
import { MAX_ZIP_BYTES } from "../../../src/features/evidence/StoredZip.ts"
import { filesIn } from "./Verifier.ts"

/** A file of so many lines of a KiB, which counts how often it is read. */
const file = (lines: number, letter: () => string = () => "x") => {
  const reads = { count: 0 }
  const content: BundleFile["content"] = Stream.suspend(() => {
    reads.count += 1
    return Stream.map(Stream.range(1, lines), () => `${letter().repeat(1023)}\n`)
  })
  return { reads, file: { name: "a.jsonl", content } }
}

const bytesOf = (files: ReadonlyArray<HashedFile>) =>
  Effect.gen(function* () {
    const zip = makeZipWriter()
    const content = Stream.concat(Stream.flatMap(Stream.fromIterable(files), zip.add), zip.end())
    return Buffer.concat(yield* Stream.runCollect(content))
  })

describe("the files of a bundle", () => {
  it.effect("are read once where they are small, and twice where they are large", () =>
    Effect.gen(function* () {
      for (const [lines, expected] of [
        [0, 1],
        [256, 1],
        [257, 2]
      ] as const) {
        const { file: one, reads } = file(lines)
        const made = yield* hashed(one)
        assert.deepInclude(made, { lines, bytes: lines * 1024 })
        const zip = yield* bytesOf([made])
        assert.strictEqual(filesIn(zip).get("a.jsonl")?.length, lines * 1024)
        assert.strictEqual(reads.count, expected, `${lines} lines`)
      }
    })
  )

  it.effect("of the same rows are made of one reading, and read again where they are not kept", () =>
    Effect.gen(function* () {
      let reads = 0
      const pages = Stream.suspend(() => {
        reads += 1
        return Stream.make([1, 2], [3])
      })
      const sums = () => {
        let sum = 0
        return (row: number) => {
          sum += row
          return String(sum)
        }
      }
      const files = yield* hashedTogether(pages, [
        { name: "a", lines: () => String },
        { name: "b", lines: sums },
        { name: "c", lines: sums, keep: 2 }
      ])
      assert.strictEqual(reads, 1)
      const zip = filesIn(yield* bytesOf(files))
      assert.deepStrictEqual(
        [...zip].map(([name, content]) => [name, content.toString()]),
        [
          ["a", "1\n2\n3\n"],
          ["b", "1\n3\n6\n"],
          ["c", "1\n3\n6\n"]
        ]
      )
      assert.strictEqual(reads, 2)
    })
  )

  it.effect("of which a large one changed between its two reads cut the bundle", () =>
    Effect.gen(function* () {
      let letter = "x"
      const made = yield* hashed(file(300, () => letter).file)
      letter = "y"
      const failure = yield* Effect.flip(bytesOf([made]))
      assert.instanceOf(failure, EvidenceChanged)
      assert.include(failure.message, "a.jsonl changed while the bundle was made")
    })
  )

  it.effect("end where a zip of this form cannot hold them", () =>
    Effect.gen(function* () {
      const large = { ...hashedText("b", ""), bytes: MAX_ZIP_BYTES }
      assert.isTrue(fitsOneZip([hashedText("a", "a")]))
      assert.isFalse(fitsOneZip([large]))
      const failure = yield* Effect.flip(bytesOf([large]))
      assert.include(failure.message, "the bundle is larger than 4294967295 bytes")
    })
  )
})
