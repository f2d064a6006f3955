import { generateKeyPairSync, randomBytes, sign } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import * as PgClient from "@effect/sql-pg/PgClient"
import { afterAll, assert, layer } from "@effect/vitest"
import { fileTarget } from "@runplane/archive"
import { Seal, signedBytes } from "@runplane/domain"
import { RuntimeFake } from "@runplane/runtime/testing"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { sealKeyOf } from "../../../src/platform/ledger/SealKeys.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { removeRuns } from "../../support/Runs.ts"
import { passInto, writing } from "../archive/Archives.ts"
import { decidedRun, evidenceOf, keysOf } from "./EvidenceRuns.ts"
import { filesIn, hasPython, verify } from "./Verifier.ts"

const folder = mkdtempSync(join(tmpdir(), "runplane-cold-evidence-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const pass = passInto(fileTarget(folder), writing({ bounds: { rows: 5, bytes: 1_000_000 } }))
const service = layerTestService({
  settings: { ARCHIVE_URL: pathToFileURL(folder).href, ARCHIVE_INTERVAL_MS: "3600000", OTLP_SETTLE_MS: "100" }
})

const textIn = (zip: Buffer, name: string) => filesIn(zip).get(name)?.toString("utf8") ?? ""

layer(service, { excludeTestServices: true })("the evidence", (it) => {
  it.effect("of a run that the archive alone has is proven, and says what is absent", () =>
    Effect.gen(function* () {
      const runId = yield* decidedRun()
      const body = { target: { kind: "run" }, source: "human", name: "quality", value: 0.5 }
      assert.strictEqual((yield* call("POST", `/runs/${runId}/marks`, { body })).status, 201)
      const hot = yield* evidenceOf(runId)
      yield* pass
      yield* removeRuns([runId], { reason: "expired", by: "retention", at: "2026-08-01T00:00:00.000Z" })
      const cold = yield* evidenceOf(runId)
      for (const name of ["events.jsonl", "heads.txt", "salts/events.jsonl", "seal.json", "why.md", "oversight.json"]) {
        assert.strictEqual(textIn(cold, name), textIn(hot, name), name)
      }
      const [run] = JSON.parse(textIn(cold, "manifest.json")).runs
      assert.deepInclude(run, { storage: "archive", sealed: true, frames: null })
      const leftOut = run.leftOut.map(({ what }: { what: string }) => what)
      assert.includeMembers(leftOut, ["frames.jsonl", "the chain of marks"])
      assert.strictEqual(JSON.parse(textIn(cold, "marks.json")).total, 1)
      if (!hasPython) return
      const { code, output } = yield* verify(cold, { keys: yield* keysOf })
      assert.strictEqual(code, 0, output)
      assert.include(output, "frames.jsonl is not in the bundle")
    })
  )

  it.effect("leaves out an artifact that is stored after the last event of the bundle", () =>
    Effect.gen(function* () {
      const runId = yield* decidedRun()
      const sql = yield* PgClient.PgClient
      const before = textIn(yield* evidenceOf(runId), "artifacts.jsonl")
      // The moment between the insert of an artifact and the read of its rows by a bundle of the events before it.
      yield* sql`INSERT INTO artifacts (id, run_id, kind, label, inline, created_at)
        VALUES (gen_random_uuid(), ${runId}::uuid, 'people.item', 'late', '{"late":true}'::json, now())`
      const bundle = yield* evidenceOf(runId)
      assert.strictEqual(textIn(bundle, "artifacts.jsonl"), before)
      if (!hasPython) return
      const { code, output } = yield* verify(bundle, { keys: yield* keysOf })
      assert.strictEqual(code, 0, output)
    })
  )

  it.effect("of a run that was sealed by an earlier key needs both keys", () =>
    Effect.gen(function* () {
      const runId = yield* decidedRun()
      const sql = yield* PgClient.PgClient
      const { privateKey, publicKey } = generateKeyPairSync("ed25519")
      const earlier = sealKeyOf(privateKey)
      const [row] = yield* sql<{ readonly seal: string }>`
        SELECT seal::text AS seal FROM run_seals WHERE run_id = ${runId}::uuid`
      const { signature: _, ...sealed } = yield* Schema.decodeUnknownEffect(Schema.fromJsonString(Seal))(row?.seal)
      const unsigned = { ...sealed, keyId: earlier.keyId }
      const seal = { ...unsigned, signature: Buffer.from(earlier.sign(signedBytes(unsigned))).toString("hex") }
      yield* sql`UPDATE run_seals SET seal = ${JSON.stringify(seal)}::text::json WHERE run_id = ${runId}::uuid`
      const bundle = yield* evidenceOf(runId)
      assert.strictEqual(JSON.parse(textIn(bundle, "seal.json")).keyId, earlier.keyId)
      if (!hasPython) return
      const current = JSON.parse(yield* keysOf)
      const { x = "" } = publicKey.export({ format: "jwk" })
      const both = { keys: [...current.keys, { kty: "OKP", crv: "Ed25519", kid: earlier.keyId, x }] }
      const proven = yield* verify(bundle, { keys: JSON.stringify(both) })
      assert.strictEqual(proven.code, 0, proven.output)
      const unknown = yield* verify(bundle, { keys: JSON.stringify(current) })
      assert.strictEqual(unknown.code, 1, unknown.output)
      assert.include(unknown.output, `REFUSED  seal.json is signed by key ${earlier.keyId}`)
    })
  )

  it.effect("has the receipt of the runtime, with its signature and its key", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const { privateKey, publicKey } = generateKeyPairSync("ed25519")
      const { x = "" } = publicKey.export({ format: "jwk" })
      yield* fake.issueReceipts({
        signer: { keyId: "receipts-1", sign: (message) => sign(null, message, privateKey) },
        jwk: { kty: "OKP", crv: "Ed25519", kid: "receipts-1", x }
      })
      const runId = yield* decidedRun()
      yield* until(call("GET", `/runs/${runId}/artifacts`), ({ text }) => text.includes("macp.receipt"))
      const bundle = yield* evidenceOf(runId)
      assert.include(textIn(bundle, "receipt.json"), "macp-receipt/1")
      assert.match(textIn(bundle, "receipt.jws"), /^[\w-]+\.\.[\w-]+\n$/)
      assert.strictEqual(JSON.parse(textIn(bundle, "receipt-keys.json")).keys[0].kid, "receipts-1")
      if (hasPython) assert.strictEqual((yield* verify(bundle, { keys: yield* keysOf })).code, 0)
    })
  )

  it.effect("of a run from OpenTelemetry has no descriptor and no frames, and is proven", () =>
    Effect.gen(function* () {
      const traceId = randomBytes(16).toString("hex")
      const text = (key: string, stringValue: string) => ({ key, value: { stringValue } })
      const span = (spanId: string, name: string, attributes: ReadonlyArray<object>, parentSpanId = "") => ({
        ...{ traceId, spanId, parentSpanId, name, kind: 1, attributes },
        ...{ startTimeUnixNano: "1782900000000000000", endTimeUnixNano: "1782900001000000000" }
      })
      const usage = ["input", "output"].map((kind) => ({
        key: `gen_ai.usage.${kind}_tokens`,
        value: { intValue: "7" }
      }))
      const chat = [text("gen_ai.operation.name", "chat"), text("gen_ai.request.model", "unlisted-model"), ...usage]
      const spans = [
        span("1111111111111111", "invoke_agent desk", [
          text("gen_ai.operation.name", "invoke_agent"),
          text("gen_ai.agent.name", "desk")
        ]),
        span("2222222222222222", "chat unlisted-model", chat, "1111111111111111")
      ]
      const body = { resourceSpans: [{ resource: { attributes: [] }, scopeSpans: [{ spans }] }] }
      assert.strictEqual((yield* call("POST", "/v1/traces", { body })).status, 200)
      const found = yield* until(
        call("GET", `/runs?q=traceId:${traceId}%20status:completed`),
        ({ body }) => body.data.length > 0
      )
      const bundle = yield* evidenceOf(found.body.data[0].id)
      const [run] = JSON.parse(textIn(bundle, "manifest.json")).runs
      assert.deepInclude(run, { status: "completed", sealed: true })
      assert.strictEqual(run.gaps.guessedPrices, 1)
      assert.include(
        run.leftOut.map(({ what }: { what: string }) => what),
        "scenario.yaml"
      )
      if (!hasPython) return
      const { code, output } = yield* verify(bundle, { keys: yield* keysOf })
      assert.strictEqual(code, 0, output)
    })
  )

  it.effect("of more than 1,000 runs is refused before the first byte", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      yield* sql`
        INSERT INTO runs (id, status, mode, mode_name, runtime_kind, runtime_session_id, trace_id, span_id, metadata,
                          search_text, environment, created_at, updated_at)
        SELECT id, 'completed', 'live', 'm', 'fake', id::text, md5(id::text), left(md5(id::text), 16), '{}', '', 'crowd',
               now(), now()
        FROM (SELECT gen_random_uuid() AS id FROM generate_series(1, 1001)) AS made`
      const { body, status } = yield* call("GET", "/evidence?q=environment:crowd")
      assert.strictEqual(status, 400)
      assert.strictEqual(body.message, "q finds more than 1000 runs, the most of one bundle")
    })
  )
})
