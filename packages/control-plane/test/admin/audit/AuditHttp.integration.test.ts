import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { AuditTrail } from "../../../src/platform/audit/AuditTrail.ts"
import { call, layerTestService } from "../../support/HttpService.ts"

interface Seed {
  readonly action: string
  readonly at: string
  readonly actor?: string
  readonly name?: string
  readonly resource?: string
  readonly resourceId?: string
}

const seeds: ReadonlyArray<Seed> = [
  { action: "run.create", at: "2026-01-01T00:00:00.000Z", resourceId: "r1" },
  { action: "run.archive", at: "2026-01-02T00:00:00.000Z", resourceId: "r1", actor: "user:f3b1", name: "user:ann" },
  { action: "webhook.create", at: "2026-01-03T00:00:00.000Z", resource: "webhook", resourceId: "w1" },
  { action: "run.delete", at: "2026-01-04T00:00:00.000Z", resourceId: "r1", actor: "user:c0de", name: "user:ann" },
  // In the same millisecond: the order in which they were written decides.
  { action: "run.create", at: "2026-01-05T00:00:00.000Z", resourceId: "r2" },
  { action: "run.suspend", at: "2026-01-05T00:00:00.000Z", resourceId: "r2" },
  { action: "run.cancel", at: "2026-01-05T00:00:00.000Z", resourceId: "r2" }
]

const seed = Effect.gen(function* () {
  const trail = yield* AuditTrail
  for (const { action, actor, at, name, resource, resourceId } of seeds) {
    yield* trail.record({
      caller: {
        actor: {
          actorId: actor ?? "key:00000001",
          actorType: name === undefined ? "api-key" : "user",
          ...(name !== undefined && { name })
        },
        requestId: `request-${action}`,
        address: "127.0.0.1"
      },
      action,
      resource: resource ?? "run",
      resourceId: resourceId ?? "",
      details: { note: action },
      at
    })
  }
})

const everything = [
  "run.cancel",
  "run.suspend",
  "run.create",
  "run.delete",
  "webhook.create",
  "run.archive",
  "run.create"
]

// docs/reference/admin.md#audit: equality filters, strict dates, the newest first, two older names.
const cases: ReadonlyArray<readonly [query: string, expected: ReadonlyArray<string>, total: number]> = [
  ["", everything, 7],
  ["limit=2", everything.slice(0, 2), 7],
  ["limit=2&offset=2", everything.slice(2, 4), 7],
  ["offset=100", [], 7],
  ["actor=user:f3b1", ["run.archive"], 1],
  // Two subjects of one name are two actors, and both are found by it.
  ["q=actorName:user:ann", ["run.delete", "run.archive"], 2],
  ["q=clientAddress:127.0.0.1 action:run.archive", ["run.archive"], 1],
  ["actor=key", [], 0],
  ["action=run.create", ["run.create", "run.create"], 2],
  ["action=run.archive", ["run.archive"], 1],
  ["action=run.archived", ["run.archive"], 1],
  ["action=run.deleted", ["run.delete"], 1],
  ["action=nothing.like.it", [], 0],
  ["resource=webhook", ["webhook.create"], 1],
  ["resourceId=r1", ["run.delete", "run.archive", "run.create"], 3],
  ["resource=run&resourceId=r2&action=run.suspend", ["run.suspend"], 1],
  ["createdAfter=2026-01-04T00:00:00.000Z", everything.slice(0, 3), 3],
  ["createdAfter=2026-01-03", everything.slice(0, 4), 4],
  ["createdBefore=2026-01-02T00:00:00Z", ["run.create"], 1],
  ["createdAfter=2026-01-01&createdBefore=2026-01-04", ["webhook.create", "run.archive"], 2],
  ["createdAfter=2026-01-01T01:00:00%2B01:00&limit=1", ["run.cancel"], 6],
  ["unknown=1&actor=", everything, 7]
]

layer(layerTestService(), { excludeTestServices: true })("the audit log over HTTP", (it) => {
  it.effect("answers every filter, page and total", () =>
    Effect.gen(function* () {
      yield* Effect.provide(seed, AuditTrail.layer)
      for (const [query, expected, total] of cases) {
        const { body, status, text } = yield* call("GET", `/audit?${query}`)
        assert.strictEqual(status, 200, text)
        assert.deepStrictEqual(
          body.data.map((entry: { action: string }) => entry.action),
          expected,
          query
        )
        assert.strictEqual(body.total, total, query)
      }
      const { body } = yield* call("GET", "/audit?action=run.archive&limit=10&offset=0")
      assert.deepStrictEqual(body, {
        data: [
          {
            id: body.data[0].id,
            actor: "user:f3b1",
            actorName: "user:ann",
            actorType: "user",
            action: "run.archive",
            resource: "run",
            resourceId: "r1",
            details: { outcome: "succeeded", note: "run.archive" },
            requestId: "request-run.archive",
            clientAddress: "127.0.0.1",
            createdAt: "2026-01-02T00:00:00.000Z"
          }
        ],
        total: 1,
        limit: 10,
        offset: 0
      })
    })
  )

  for (const [query, message] of [
    ["limit=0", "limit must not be less than 1"],
    ["limit=201", "limit must not be greater than 200"],
    ["limit=1.5", "limit must be an integer number"],
    ["offset=-1", "offset must not be less than 0"],
    ["createdAfter=yesterday", "createdAfter must be a valid ISO 8601 date string"],
    ["createdBefore=2026-13-01", "createdBefore must be a valid ISO 8601 date string"]
  ] as const) {
    it.effect(`refuses ${query}`, () =>
      Effect.gen(function* () {
        const { body, status } = yield* call("GET", `/audit?${query}`)
        assert.strictEqual(status, 400)
        assert.deepStrictEqual(body.message, [message])
      })
    )
  }
})
