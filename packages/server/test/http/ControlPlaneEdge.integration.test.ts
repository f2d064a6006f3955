import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { HttpObserver, type ObservedRequest } from "../../src/index.ts"
import { ask, layerServer } from "../support/Ask.ts"
import { descriptor, fakeControlPlane, RUN_ID, Seen } from "../support/FakeControlPlane.ts"

const observed: Array<ObservedRequest> = []

const server = fakeControlPlane({ THROTTLE_LIMIT: "100000" }).pipe(
  Layer.provideMerge(layerServer),
  Layer.provide(Layer.succeed(HttpObserver, { observe: (request) => Effect.sync(() => void observed.push(request)) }))
)

const post = (body: unknown) => ({ method: "POST", body: JSON.stringify(body) })

layer(server, { excludeTestServices: true })("the control plane's edge", (it) => {
  it.effect(
    "answers an unknown route with 404, and another method of a known path with 405 and those that it has",
    () =>
      Effect.gen(function* () {
        const answer = yield* ask("/nope?x=1")
        assert.strictEqual(answer.status, 404)
        assert.deepStrictEqual(answer.json, {
          statusCode: 404,
          errorCode: "NOT_FOUND",
          message: "Cannot GET /nope",
          error: "Not Found"
        })
        for (const [method, path, allow] of [
          ["PUT", "/runs", "GET, HEAD, OPTIONS, POST"],
          ["PATCH", `/runs/${RUN_ID}/cancel?a=/b`, "OPTIONS, POST"],
          ["TRACE", "/healthz/", "GET, HEAD, OPTIONS"]
        ] as const) {
          const other = yield* ask(path, { method })
          assert.deepStrictEqual([other.status, other.headers["allow"]], [405, allow])
          assert.deepStrictEqual(other.json, {
            statusCode: 405,
            errorCode: "METHOD_NOT_ALLOWED",
            message: `Cannot ${method} ${path.split("?")[0]}`,
            error: "Method Not Allowed"
          })
        }
        const unknown = yield* ask(`/runs/${RUN_ID}/cancel/more`, { method: "POST" })
        assert.deepStrictEqual([unknown.status, unknown.headers["allow"]], [404, undefined])
      })
  )

  it.effect("answers a body over one mebibyte with 413, with and without a declared length", () =>
    Effect.gen(function* () {
      const big = post({ ...descriptor, runtime: { kind: "x".repeat(1_100_000) } })
      const declared = yield* ask("/runs", big)
      assert.strictEqual(declared.status, 413)
      assert.deepInclude(declared.json, { statusCode: 413, errorCode: "PAYLOAD_TOO_LARGE" })
      const chunked = yield* ask("/runs", { ...big, chunked: true })
      assert.strictEqual(chunked.status, 413)
      assert.deepStrictEqual(chunked.json, declared.json)
    })
  )

  it.effect("explains why a body is not JSON", () =>
    Effect.gen(function* () {
      const answer = yield* ask("/runs", { method: "POST", body: "{nope" })
      assert.strictEqual(answer.status, 400)
      assert.deepInclude(answer.json, { statusCode: 400, errorCode: "VALIDATION_ERROR", error: "Bad Request" })
      assert.match(answer.text, /JSON at position 1/)
      const scalar = yield* ask("/runs", { method: "POST", body: '"text"' })
      assert.deepInclude(scalar.json, { message: `Unexpected token '"', ""text"" is not valid JSON` })
    })
  )

  it.effect("lists every broken rule of a body", () =>
    Effect.gen(function* () {
      const answer = yield* ask(
        "/runs",
        post({ ...descriptor, kickoff: [], mode: "dry", session: { ...descriptor.session, ttlMs: 0 } })
      )
      assert.deepStrictEqual(answer.json, {
        statusCode: 400,
        errorCode: "VALIDATION_ERROR",
        message: [
          "property kickoff should not exist",
          "mode must be one of the following values: live, sandbox",
          "session.ttlMs must be a positive number"
        ],
        error: "Bad Request"
      })
    })
  )

  it.effect("creates a run with 202", () =>
    Effect.gen(function* () {
      const answer = yield* ask("/runs", post(descriptor))
      assert.strictEqual(answer.status, 202)
      assert.deepStrictEqual((yield* Seen).descriptors.at(-1), descriptor)
      assert.deepStrictEqual((yield* Seen).actors.at(-1), {
        actorId: "anonymous",
        actorType: "anonymous",
        role: "admin"
      })
    })
  )

  it.effect("takes an empty body of any type for an empty object", () =>
    Effect.gen(function* () {
      for (const headers of [
        { "content-type": "application/json", "content-length": "0" },
        { "content-type": "application/x-www-form-urlencoded", "content-length": "0" },
        { "content-length": "0" },
        {}
      ]) {
        const answer = yield* ask(`/runs/${RUN_ID}/cancel`, { method: "POST", headers })
        assert.strictEqual(answer.status, 201)
      }
      const withReason = yield* ask(`/runs/${RUN_ID}/suspend`, post({ reason: "lunch", other: 1 }))
      assert.strictEqual(withReason.status, 201)
      assert.strictEqual((yield* Seen).reasons.at(-1), "lunch")
    })
  )

  it.effect("refuses a body of another type with 415", () =>
    Effect.gen(function* () {
      const answer = yield* ask("/runs", { method: "POST", headers: { "content-type": "text/plain" }, body: "x" })
      assert.strictEqual(answer.status, 415)
      assert.deepInclude(answer.json, { statusCode: 415, errorCode: "UNSUPPORTED_MEDIA_TYPE" })
    })
  )

  it.effect("refuses an id that is neither a UUID nor a session id, and resolves both others", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* ask("/runs/42")).json, {
        statusCode: 400,
        errorCode: "VALIDATION_ERROR",
        message: "Validation failed (uuid is expected)",
        error: "Bad Request"
      })
      assert.strictEqual((yield* ask(`/runs/${RUN_ID.toUpperCase()}`)).status, 200)
      assert.strictEqual((yield* Seen).ids.at(-1), RUN_ID)
      const session = "abcdefghijklmnopqrstuv-_"
      const unknown = yield* ask(`/runs/${session}`)
      assert.deepStrictEqual(unknown.json, {
        statusCode: 404,
        errorCode: "RUN_NOT_FOUND",
        message: `run ${session} not found`
      })
    })
  )

  it.effect("answers the removed endpoints with 410 after the check of the id, for every body", () =>
    Effect.gen(function* () {
      for (const name of ["messages", "signal", "context"]) {
        const gone = yield* ask(`/runs/${RUN_ID}/${name}`, { method: "POST", body: "{nope" })
        assert.strictEqual(gone.status, 410)
        assert.deepInclude(gone.json, { statusCode: 410, errorCode: "ENDPOINT_REMOVED" })
        assert.include(gone.text, `POST /runs/:id/${name} has been removed`)
        assert.strictEqual((yield* ask(`/runs/x/${name}`, { method: "POST" })).status, 400)
      }
    })
  )

  it.effect("echoes the request id, or makes one", () =>
    Effect.gen(function* () {
      const given = yield* ask("/healthz", { headers: { "x-request-id": "abc-1" } })
      assert.strictEqual(given.headers["x-request-id"], "abc-1")
      const made = yield* ask("/nope")
      assert.match(made.headers["x-request-id"] ?? "", /^[0-9a-f-]{36}$/)
      const oversized = yield* ask("/healthz", { headers: { "x-request-id": "x".repeat(200) } })
      assert.notInclude(oversized.headers["x-request-id"] ?? "", "xx")
    })
  )

  it.effect("lets one origin in and answers preflights with 204", () =>
    Effect.gen(function* () {
      const answer = yield* ask("/healthz", { headers: { origin: "http://elsewhere" } })
      assert.strictEqual(answer.headers["access-control-allow-origin"], "http://localhost:3000")
      assert.strictEqual(answer.headers["access-control-allow-credentials"], "true")
      const preflight = yield* ask("/runs", {
        method: "OPTIONS",
        headers: {
          origin: "http://localhost:3000",
          "access-control-request-method": "POST",
          "access-control-request-headers": "content-type,x-y"
        }
      })
      assert.strictEqual(preflight.status, 204)
      assert.strictEqual(preflight.headers["access-control-allow-methods"], "GET,HEAD,PUT,PATCH,POST,DELETE")
      assert.strictEqual(preflight.headers["access-control-allow-headers"], "content-type,x-y")
    })
  )

  it.effect("logs a broken handler and answers 500 without details", () =>
    Effect.gen(function* () {
      const answer = yield* ask(`/runs/${RUN_ID}/artifacts`)
      assert.strictEqual(answer.status, 500)
      assert.deepStrictEqual(answer.json, {
        statusCode: 500,
        errorCode: "INTERNAL_ERROR",
        message: "Internal server error"
      })
    })
  )

  it.effect("passes stored JSON through and serves metrics as text", () =>
    Effect.gen(function* () {
      const state = yield* ask(`/runs/${RUN_ID}/state`)
      assert.strictEqual(state.headers["content-type"], "application/json")
      assert.deepInclude(state.json, { participants: [] })
      const metrics = yield* ask("/metrics")
      assert.strictEqual(metrics.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8")
      assert.strictEqual(metrics.text, "up 1\n")
    })
  )

  it.effect("fills in the defaults of a query and reports its broken rules", () =>
    Effect.gen(function* () {
      assert.strictEqual(
        (yield* ask("/runs?tags=a,%20b&status=running&createdAfter=2026-07-01&x=1&search=")).status,
        200
      )
      assert.deepStrictEqual((yield* Seen).listQueries.at(-1), {
        status: "running",
        tags: ["a", "b"],
        createdAfter: "2026-07-01T00:00:00.000Z",
        limit: 50,
        offset: 0,
        sortBy: "createdAt",
        sortOrder: "desc",
        includeArchived: false
      })
      const answer = yield* ask("/runs?limit=201&offset=-1&createdBefore=soon")
      assert.deepInclude(answer.json, {
        message: [
          "createdBefore must be a valid ISO 8601 date string",
          "limit must not be greater than 200",
          "offset must not be less than 0"
        ]
      })
    })
  )

  it.effect("reports the template of the route to the observer", () =>
    Effect.gen(function* () {
      observed.length = 0
      yield* ask(`/runs/${RUN_ID}`)
      yield* ask("/nope")
      yield* ask(`/runs/${RUN_ID}/cancel`, { method: "POST" })
      yield* ask("/runs/42")
      assert.deepStrictEqual(
        observed.map(({ method, route, status }) => [method, route, status]),
        [
          ["GET", "/runs/:id", 200],
          ["GET", "unmatched", 404],
          ["POST", "/runs/:id/cancel", 201],
          ["GET", "/runs/:id", 400]
        ]
      )
    })
  )

  const hostile: ReadonlyArray<readonly [string, string, { method?: string; body?: string }]> = [
    ["a broken escape in the path", "/runs/%zz", {}],
    ["a NUL in the path", "/runtime/policies/a%00b", {}],
    ["a NUL in the query", "/runs?search=%00&environment=%ud800", {}],
    ["a repeated parameter", `/runs/${RUN_ID}/events?limit=1&limit=2`, {}],
    ["a very long parameter", `/runs/${"a".repeat(600)}`, {}],
    ["a date of the year zero", "/runs?createdAfter=0000-01-01", {}],
    ["an enormous number", "/runs?offset=1e400&limit=9".concat("9".repeat(30)), {}],
    ["a null body", "/runs", { method: "POST", body: "null" }],
    ["an array body", "/runs", { method: "POST", body: "[]" }],
    ["a deep body", "/runs", { method: "POST", body: `{"mode":${"[".repeat(50_000)}${"]".repeat(50_000)}}` }],
    ["a body of white space", "/runs", { method: "POST", body: "  " }],
    ["a prototype key", "/runs", { method: "POST", body: '{"__proto__":{"mode":"live"},"constructor":1}' }]
  ]
  it.effect.each(hostile)("answers %s without failing", ([, path, request]) =>
    Effect.gen(function* () {
      const answer = yield* ask(path, request)
      assert.isBelow(answer.status, 500)
      assert.isAtLeast(answer.status, 200)
    })
  )

  it.effect("refuses characters that the database cannot store, in every part of a request", () =>
    Effect.gen(function* () {
      for (const [path, request, message] of [
        ["/runs?search=%00", {}, ["search must not contain the character U+0000"]],
        ["/runtime/policies/a%00b", {}, "Validation failed (the path must not contain the character U+0000)"],
        [
          "/runs",
          { method: "POST", body: '{"mode":"live","session":{"metadata":{"note":["\\ud83d"]}}}' },
          ["session.metadata.note.0 must not contain half of a surrogate pair"]
        ]
      ] as const) {
        const answer = yield* ask(path, request)
        assert.deepStrictEqual([answer.status, answer.json.message], [400, message])
      }
    })
  )

  it.effect("refuses a body that would not be read as it was sent, and names the field", () =>
    Effect.gen(function* () {
      for (const [path, body, message] of [
        [
          "/runs",
          '{"mode":"live","session":{"context":{"account":653247040368672769}}}',
          "session.context.account must not be 653247040368672769: a double cannot hold it, write it as text"
        ],
        ["/runs", '{"a":[{"b":1e400}]}', "a.0.b must not be 1e400: a double cannot hold it, write it as text"],
        ["/runs", '{"mode":"live","session":{},"session":{}}', "session must not be given twice"],
        [`/runs/${RUN_ID}/cancel`, '{"__proto__":{"reason":"x"}}', "__proto__ must not be used as a key"]
      ] as const) {
        const answer = yield* ask(path, { method: "POST", body })
        const error = { statusCode: 400, errorCode: "VALIDATION_ERROR", message, error: "Bad Request" }
        assert.deepStrictEqual([answer.status, answer.json], [400, error])
      }
    })
  )

  it.effect("refuses names that lines, direction marks or zero-width characters make look like others", () =>
    Effect.gen(function* () {
      const one = "must be one line without control, direction and zero-width characters"
      const { session } = descriptor
      const answer = yield* ask(
        "/runs",
        post({
          ...descriptor,
          session: {
            ...session,
            participants: [{ id: "risk\r\nagent" }, { id: "agent://le\u200bad" }, { id: "né ∀ 東" }]
          },
          execution: { tags: ["a\nb", "ok 😀", "\u202eadmin"], idempotencyKey: "k\u0085" }
        })
      )
      assert.deepStrictEqual(answer.json.message, [
        `session.participants.0.id ${one}`,
        `session.participants.1.id ${one}`,
        `execution.idempotencyKey ${one}`,
        `execution.each value in tags ${one}`
      ])
    })
  )
})
