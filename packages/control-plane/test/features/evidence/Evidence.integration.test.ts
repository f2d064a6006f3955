import { createRequire } from "node:module"
const require = createRequire(import.meta.url)
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { call, layerTestService } from "../../support/HttpService.ts"
import { createRun } from "../../support/Runs.ts"
import { bytesOf, decidedRun, evidenceOf } from "./EvidenceRuns.ts"
import { filesIn, verify } from "./Verifier.ts"

const keysOf = Effect.map(call("GET", "/.well-known/runplane-keys.json"), ({ text }) => text)

const documentIn = (zip: Buffer, name: string) => JSON.parse(filesIn(zip).get(name)?.toString("utf8") ?? "null")

layer(layerTestService(), { excludeTestServices: true })("the evidence of a run", (it) => {
  it.effect("is a stored zip with sorted names that verify.py accepts", () =>
    Effect.gen(function* () {
      const runId = yield* decidedRun()
      const { bytes, headers, status } = yield* bytesOf(`/runs/${runId}/evidence`)
      assert.strictEqual(status, 200)
      assert.strictEqual(headers.get("content-type"), "application/zip")
      assert.strictEqual(headers.get("content-disposition"), `attachment; filename="run-${runId}.evidence.zip"`)
      const names = [...filesIn(bytes).keys()]
      assert.deepStrictEqual(names, names.toSorted())
      const { code, output } = verify(bytes, { keys: yield* keysOf })
      assert.strictEqual(code, 0, output)
      require("node:fs").writeFileSync("/tmp/rp/d-ev.zip", bytes)
    })
  )
})
