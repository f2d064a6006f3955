import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { layerTestService } from "../../support/HttpService.ts"
import { addAnswer, bytesOf, decidedRun, evidenceOf, keysOf } from "./EvidenceRuns.ts"
import { filesIn, hasPython, runPython, temporary, verify, zipOf } from "./Verifier.ts"

/** Python's own zip reads a bundle, and writes its files in another way. */
const PACK_AGAIN = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as old, zipfile.ZipFile(sys.argv[2], "w", zipfile.ZIP_DEFLATED) as new:
    for name in old.namelist():
        new.writestr(name, old.read(name))
`

const FLIPS = join(import.meta.dirname, "../../../../verify/test/flips.py")

if (!hasPython) process.stdout.write("python3 of 3.9 or later is absent: the verifier of evidence is not run\n")

describe.runIf(hasPython)("verify.py", () => {
  layer(layerTestService(), { excludeTestServices: true })((it) => {
    it.effect("accepts a bundle with saved keys, and proves nothing without them", () =>
      Effect.gen(function* () {
        const bundle = yield* evidenceOf(yield* decidedRun())
        const proven = yield* verify(bundle, { keys: yield* keysOf })
        assert.strictEqual(proven.code, 0, proven.output)
        assert.match(proven.output, /\nVALID\n$/)
        assert.include(
          proven.output,
          "Not proven\n  - the scenario's own text, agents' manifests and versions, and A2A cards: "
        )
        const unproven = yield* verify(bundle)
        assert.strictEqual(unproven.code, 6, unproven.output)
        assert.include(unproven.output, "the only keys are those of the bundle itself")
      })
    )

    it.effect("refuses a bundle of other keys, and a file that has none", () =>
      Effect.gen(function* () {
        const bundle = yield* evidenceOf(yield* decidedRun())
        const { code, output } = yield* verify(bundle, { keys: '{"keys":[]}' })
        assert.strictEqual(code, 1)
        assert.include(output, "REFUSED  manifest.sig is signed by key ")
        for (const keys of ["{}", "[]", "0", '"keys"', '{"keys":0}', '{"keys":[{}]}']) {
          const none = yield* verify(bundle, { keys })
          assert.strictEqual(none.code, 1, `${keys}: ${none.output}`)
          assert.include(none.output, "REFUSED  the keys: ")
        }
        assert.strictEqual((yield* verify(bundle, { keys: "no JSON" })).code, 2)
      })
    )

    it.effect("prints no control characters of a bundle", () =>
      Effect.gen(function* () {
        const files = filesIn(yield* evidenceOf(yield* decidedRun()))
        const manifest = files.get("manifest.json")?.toString() ?? ""
        files.set("manifest.json", Buffer.from(manifest.replace("anonymous", "\\u001b[2J\\nVALID")))
        const { code, output } = yield* verify(zipOf(files))
        assert.strictEqual(code, 1, output)
        assert.notMatch(output, /\u001b|^VALID/m)
      })
    )

    it.effect("reads no other file, and says which", () =>
      Effect.gen(function* () {
        const { code, output } = yield* verify(Buffer.from("not a zip"))
        assert.strictEqual(code, 2)
        assert.include(output, "cannot read: no stored zip begins here")
      })
    )

    it.effect("finds single changed bits, and names the file", () =>
      Effect.gen(function* () {
        const runId = yield* decidedRun()
        yield* addAnswer(runId)
        const bundle = yield* evidenceOf(runId)
        const keys = yield* keysOf
        const folder = yield* temporary
        const [file, keyFile] = [join(folder, "case.zip"), join(folder, "keys.json")]
        writeFileSync(file, bundle)
        writeFileSync(keyFile, keys)
        for (const more of [[], ["--resealed"]]) {
          const { code, output } = yield* runPython([FLIPS, file, keyFile, "300", ...more])
          assert.strictEqual(code, 0, output)
          assert.include(output, "300 changes, 0 missed, 0 without the name of a file")
        }
      }).pipe(Effect.scoped)
    )

    for (const [how, change, fault] of [
      [
        "was written in another order",
        (files) => files.toReversed(),
        /whatif\.json is there twice, or not in the order/
      ],
      ["lacks a file", (files) => files.filter(([name]) => name !== "gaps.json"), /gaps\.json is missing/],
      ["has a file more", (files) => [...files, ["zz.txt", Buffer.from("x")]], /zz\.txt is not in the manifest/],
      [
        "has another file",
        (files) =>
          files.map(([name, content]) => (name === "why.md" ? [name, Buffer.from("# Denied\n")] : [name, content])),
        /why\.md is not the file of the manifest/
      ]
    ] as ReadonlyArray<
      readonly [
        string,
        (files: ReadonlyArray<readonly [string, Buffer]>) => Iterable<readonly [string, Buffer]>,
        RegExp
      ]
    >) {
      it.effect(`refuses a bundle that ${how}`, () =>
        Effect.gen(function* () {
          const files = [...filesIn(yield* evidenceOf(yield* decidedRun()))]
          const { code, output } = yield* verify(zipOf(change(files)), { keys: yield* keysOf })
          assert.strictEqual(code, 1, output)
          assert.match(output, fault)
        })
      )
    }

    it.effect("refuses a bundle that was cut, and one that was packed again", () =>
      Effect.gen(function* () {
        const bundle = yield* evidenceOf(yield* decidedRun())
        const cut = yield* verify(bundle.subarray(0, bundle.length - 1), { keys: yield* keysOf })
        assert.deepInclude(cut, { code: 1 })
        assert.include(cut.output, "the end of the zip")
        const half = yield* verify(bundle.subarray(0, bundle.length / 2), { keys: yield* keysOf })
        assert.deepInclude(half, { code: 1 })
        const folder = yield* temporary
        const [file, repackedFile] = [join(folder, "case.zip"), join(folder, "again.zip")]
        writeFileSync(file, bundle)
        const packed = yield* runPython(["-c", PACK_AGAIN, file, repackedFile])
        assert.strictEqual(packed.code, 0, packed.output)
        const repacked = yield* verify(readFileSync(repackedFile), { keys: yield* keysOf })
        assert.deepInclude(repacked, { code: 1 })
        assert.include(repacked.output, "'VERIFY.md'")
      }).pipe(Effect.scoped)
    )

    it.effect("names the event that a writer of the database changed", () =>
      Effect.gen(function* () {
        const runId = yield* decidedRun()
        const sql = yield* PgClient.PgClient
        yield* sql`
          UPDATE canonical_events SET event = replace(event::text, 'two of three', 'one of three')::json
          WHERE run_id = ${runId}::uuid AND type = 'decision.finalized'`
        const { code, output } = yield* verify(yield* evidenceOf(runId), { keys: yield* keysOf })
        assert.strictEqual(code, 1, output)
        assert.match(output, /REFUSED {2}(events\.jsonl, event 20|seal\.json|frames\.jsonl)/)
      })
    )

    it.effect("of several runs names the folder of the wrong one", () =>
      Effect.gen(function* () {
        const [first, second] = [
          yield* decidedRun({ environment: "several" }),
          yield* decidedRun({ environment: "several" })
        ]
        const sql = yield* PgClient.PgClient
        yield* sql`
          UPDATE raw_events SET payload = replace(payload::text, 'agent://cost', 'agent://coat')::json
          WHERE run_id = ${second}::uuid AND seq = 3`
        const { bytes } = yield* bytesOf("/evidence?q=environment:several")
        const { code, output } = yield* verify(bytes, { keys: yield* keysOf })
        assert.strictEqual(code, 1, output)
        assert.include(output, `REFUSED  0002-${second}/frames.jsonl`)
        assert.notInclude(output, first)
      })
    )
  })
})
