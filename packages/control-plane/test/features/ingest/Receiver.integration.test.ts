import { deflateSync, gzipSync, zstdCompressSync } from "node:zlib"
import { BinaryReader } from "@bufbuild/protobuf/wire"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { call, layerTestService } from "../../support/HttpService.ts"
import { exportOf, post, span, traceIdOf } from "./support/Exports.ts"

const PROTOBUF = { "content-type": "application/x-protobuf" }
const one = exportOf([span({ trace: 1, span: 1 })])

/** The message of a `Status` in protobuf. */
const statusMessage = (bytes: Uint8Array): string => {
  const reader = new BinaryReader(bytes)
  let message = ""
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag()
    if (field === 2) message = reader.string()
    else reader.skip(type)
  }
  return message
}

layer(layerTestService({ settings: { OTLP_MAX_BODY_BYTES: "20000" } }), { excludeTestServices: true })(
  "the endpoint of exporters",
  (it) => {
    it.effect("answers in the encoding of the request", () =>
      Effect.gen(function* () {
        const json = yield* post(one)
        assert.strictEqual(json.headers.get("content-type"), "application/json")
        assert.deepStrictEqual([json.status, json.text], [200, "{}"])
        const empty = yield* post(new Uint8Array(), { headers: PROTOBUF })
        assert.strictEqual(empty.headers.get("content-type"), "application/x-protobuf")
        assert.deepStrictEqual([empty.status, empty.bytes.length], [200, 0])
        const metrics = yield* post({}, { path: "/v1/metrics" })
        assert.strictEqual(metrics.status, 200)
        assert.include(metrics.text, "not metrics")
        assert.strictEqual((yield* post({}, { path: "/v1/metrics" })).text, "{}")
      })
    )

    it.effect("reports rejected spans as a partial success, and stores the others", () =>
      Effect.gen(function* () {
        const zeros = { ...span({ trace: 2, span: 2 }), traceId: "0".repeat(32) }
        const answer = yield* post(exportOf([zeros, span({ trace: 2, span: 1 })]))
        assert.strictEqual(answer.status, 200)
        const { partialSuccess } = JSON.parse(answer.text)
        assert.strictEqual(partialSuccess.rejectedSpans, "1")
        assert.include(partialSuccess.errorMessage, "trace id")
      })
    )

    for (const [what, trace] of [
      ["spans", 3],
      ["bytes", 5]
    ] as const) {
      it.effect(`rejects spans of a run that has as many ${what} as a run may have`, () =>
        Effect.gen(function* () {
          const sql = yield* PgClient.PgClient
          yield* post(exportOf([span({ trace, span: 1 })]))
          const bound = (one: number) => sql<{ readonly run_id: string; readonly bytes: number }>`
            SELECT run_id::text AS run_id, bytes::float8 AS bytes FROM otlp_traces WHERE trace_id = ${traceIdOf(one)}`
          const [run] = yield* until(bound(trace), ([row]) => row !== undefined && row.bytes > 0)
          yield* what === "spans"
            ? sql`INSERT INTO otlp_seen (run_id, position, key, node) VALUES (${run?.run_id}::uuid, 99999, 'last', '{}')`
            : sql`UPDATE otlp_traces SET bytes = 536870912 WHERE trace_id = ${traceIdOf(trace)}`
          const answer = yield* post(exportOf([span({ trace, span: 2 }), span({ trace: trace + 1, span: 1 })]))
          assert.strictEqual(answer.status, 200)
          const { partialSuccess } = JSON.parse(answer.text)
          assert.strictEqual(partialSuccess.rejectedSpans, "1")
          assert.include(partialSuccess.errorMessage, "100000 spans")
          yield* until(bound(trace + 1), (rows) => rows.length === 1)
        })
      )
    }

    it.effect("refuses other bodies with a status that exporters do not retry", () =>
      Effect.gen(function* () {
        const refused: ReadonlyArray<{ body: Buffer; headers: Record<string, string>; status: number }> = [
          { body: Buffer.from("{"), headers: { "content-type": "application/json" }, status: 400 },
          { body: Buffer.from("[".repeat(9_000)), headers: { "content-type": "application/json" }, status: 400 },
          { body: Buffer.from("<xml/>"), headers: { "content-type": "text/xml" }, status: 415 },
          { body: Buffer.from("x"), headers: { ...PROTOBUF, "content-encoding": "br" }, status: 415 },
          { body: Buffer.from("x"), headers: { ...PROTOBUF, "content-encoding": "gzip" }, status: 400 },
          { body: Buffer.alloc(20_001), headers: PROTOBUF, status: 413 },
          { body: gzipSync(Buffer.alloc(400_000)), headers: { ...PROTOBUF, "content-encoding": "gzip" }, status: 413 }
        ]
        for (const { body, headers, status } of refused) {
          const isBinary = headers["content-type"] === PROTOBUF["content-type"]
          const answer = yield* post(Uint8Array.from(body), { headers })
          assert.strictEqual(answer.status, status, answer.text)
          const type = isBinary ? PROTOBUF["content-type"] : "application/json"
          assert.strictEqual(answer.headers.get("content-type"), type)
          assert.isNull(answer.headers.get("retry-after"))
          const message = isBinary ? statusMessage(answer.bytes) : JSON.parse(answer.text).message
          assert.isNotEmpty(message)
          if (headers["content-encoding"] === "br") assert.include(message, "accepted are gzip, deflate, zstd and none")
          if (status === 413) assert.include(message, "larger than")
        }
        const { text } = yield* call("GET", "/metrics")
        assert.match(text, /otlp_too_large_total\{[^}]*source="anonymous"[^}]*\} 2/)
      })
    )

    it.effect("inflates gzip, deflate and zstd, under their older names too", () =>
      Effect.gen(function* () {
        const body = JSON.stringify(one)
        const sent = [
          ["gzip", gzipSync(body)],
          ["x-gzip", gzipSync(body)],
          ["deflate", deflateSync(body)],
          ["zstd", zstdCompressSync(body)],
          ["identity", Buffer.from(body)]
        ] as const
        for (const [coding, bytes] of sent) {
          const headers = { "content-type": "application/json", "content-encoding": coding }
          const { status, text } = yield* post(Uint8Array.from(bytes), { headers })
          assert.deepStrictEqual([coding, status, text], [coding, 200, "{}"])
        }
      })
    )

    it.effect("takes no other method", () =>
      Effect.gen(function* () {
        const answer = yield* call("GET", "/v1/traces")
        assert.strictEqual(answer.status, 405)
        assert.include(answer.headers.get("allow") ?? "", "POST")
      })
    )
  }
)

layer(layerTestService({ settings: { OTLP_INGEST_ENABLED: "false" } }), { excludeTestServices: true })(
  "a service without ingest",
  (it) => {
    it.effect("answers 404, also in protobuf", () =>
      Effect.gen(function* () {
        const json = yield* post(one)
        assert.strictEqual(json.status, 404)
        assert.include(JSON.parse(json.text).message, "OTLP_INGEST_ENABLED")
        const binary = yield* post(new Uint8Array(), { headers: PROTOBUF })
        assert.strictEqual(binary.status, 404)
        assert.include(statusMessage(binary.bytes), "OTLP_INGEST_ENABLED")
      })
    )
  }
)

const keys = {
  AUTH_API_KEYS: "sender,reader,operator",
  AUTH_API_KEY_NAMES: "sender,reader,operator",
  AUTH_API_KEY_ROLES: "ingest,viewer,operator"
}

layer(layerTestService({ settings: keys }), { excludeTestServices: true })("a key of the role ingest", (it) => {
  it.effect("sends telemetry and reads nothing", () =>
    Effect.gen(function* () {
      const status = (key: string) =>
        Effect.map(post(one, { headers: { "x-api-key": key } }), (answer) => answer.status)
      assert.deepStrictEqual(
        yield* Effect.forEach(["sender", "reader", "operator", "wrong"], status),
        [200, 403, 200, 401]
      )
      const bearer = yield* post(one, { headers: { authorization: "Bearer sender" } })
      assert.strictEqual(bearer.status, 200)
      const me = yield* call("GET", "/me", { headers: { "x-api-key": "sender" } })
      assert.deepInclude(me.body, { type: "api-key", role: "ingest" })
      assert.notProperty(me.body, "runtimeIdentity")
      for (const path of ["/runs", "/events", "/dashboard/overview"]) {
        const answer = yield* call("GET", path, { headers: { "x-api-key": "sender" } })
        assert.strictEqual(answer.status, 403, path)
      }
    })
  )

  it.effect("is accepted as the clients of other products send it", () =>
    Effect.gen(function* () {
      const basic = (pair: string) => ({ authorization: `Basic ${Buffer.from(pair).toString("base64")}` })
      const sent: ReadonlyArray<[number, string, Record<string, string>]> = [
        [200, "/api/public/otel/v1/traces", basic("pk-lf-1:sender")],
        [200, "/api/public/otel/v1/logs", basic(":sender")],
        [200, "/otel/v1/traces", { "x-api-key": "sender" }],
        [200, "/v1/traces", basic("anything:sender")],
        [200, "/v1/traces", { api_key: "sender" }],
        [200, "/v1/traces", { "api-key": "sender" }],
        [401, "/api/public/otel/v1/traces", basic("sender:wrong")],
        [401, "/api/public/otel/v1/traces", basic("sender")],
        [401, "/v1/traces", { api_key: "wrong" }],
        [403, "/v1/traces", { api_key: "reader" }],
        [404, "/api/public/otel/v1/other", basic("pk:sender")],
        [404, "/api/public/otel/runs", basic("pk:operator")]
      ]
      for (const [status, path, headers] of sent) {
        const answer = yield* post(path.endsWith("logs") ? {} : one, { path, headers })
        assert.deepStrictEqual([path, headers, answer.status], [path, headers, status], answer.text)
      }
      const runs = yield* call("GET", "/runs", { headers: { "api-key": "operator" } })
      assert.strictEqual(runs.status, 401)
    })
  )

  it.effect("gets the refusals in the encoding of the request, and they are audited", () =>
    Effect.gen(function* () {
      const wrong = yield* post(new Uint8Array(), { headers: { ...PROTOBUF, "x-api-key": "wrong" } })
      assert.strictEqual(wrong.status, 401)
      assert.include(statusMessage(wrong.bytes), "Invalid authorization token")
      const reader = yield* post(new Uint8Array(), { headers: { ...PROTOBUF, "x-api-key": "reader" } })
      assert.strictEqual(reader.status, 403)
      assert.include(statusMessage(reader.bytes), "ingest")
      const audited = yield* until(
        call("GET", "/audit?action=access.refused", { headers: { "x-api-key": "operator" } }),
        ({ body }) =>
          body.data.some(
            ({ actor, resourceId }: { actor: string; resourceId: string }) =>
              actor === "reader" && resourceId === "POST /v1/traces"
          )
      )
      assert.strictEqual(audited.status, 200)
    })
  )
})

const full = {
  AUTH_API_KEYS: "greedy,modest",
  AUTH_API_KEY_NAMES: "greedy,modest",
  AUTH_API_KEY_ROLES: "ingest,ingest",
  OTLP_INBOX_BYTES: "131072",
  OTLP_SETTLE_MS: "3600000"
}

layer(layerTestService({ settings: full }), { excludeTestServices: true })("a full span inbox", (it) => {
  it.effect(
    "answers 503 with Retry-After to the source that fills it, until it is drained, and has capacity for another",
    () =>
      Effect.gen(function* () {
        let trace = 100
        const send = (key: string) =>
          Effect.suspend(() => {
            const attributes = { note: "n".repeat(16_000) }
            const body = exportOf([span({ trace: ++trace, span: 1, parent: 9, attributes })])
            return post(body, { headers: { "x-api-key": key } })
          })
        const refused = yield* until(send("greedy"), ({ status }) => status === 503)
        assert.isNotNull(refused.headers.get("retry-after"))
        assert.isAtLeast(trace - 100, 6)
        assert.strictEqual((yield* send("modest")).status, 200)
        assert.strictEqual((yield* send("greedy")).status, 503)
        const sql = yield* PgClient.PgClient
        yield* sql`DELETE FROM otlp_inbox`
        yield* until(send("greedy"), ({ status }) => status === 200)
      })
  )
})
