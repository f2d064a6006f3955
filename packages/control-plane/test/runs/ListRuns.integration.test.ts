import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { call, descriptor, layerTestService } from "../support/HttpService.ts"
import { awaitStatus } from "../support/Observation.ts"

interface Seed {
  readonly name: string
  readonly createdAt: string
  readonly tags?: ReadonlyArray<string>
  readonly metadata?: Readonly<Record<string, string>>
  readonly policyVersion?: string
  readonly archived?: boolean
  readonly status?: string
}

const seeds: ReadonlyArray<Seed> = [
  { name: "a", createdAt: "2026-01-01T00:00:00.000Z", tags: ["x", "y"], metadata: { environment: "staging" } },
  {
    name: "b",
    createdAt: "2026-01-02T00:00:00.000Z",
    tags: ["x"],
    metadata: { scenarioRef: "Loans/Fast-Check@1.0.0" }
  },
  { name: "c", createdAt: "2026-01-03T00:00:00.000Z", metadata: { sourceRef: "loans/other@2" }, status: "failed" },
  { name: "d", createdAt: "2026-01-04T00:00:00.000Z", tags: ["100%_sure"], policyVersion: "policy.fraud.strict" },
  { name: "e", createdAt: "2026-01-05T00:00:00.000Z", tags: ["x"], archived: true }
]

/** Creates the seeds through the API, then sets what only time or an end can set. */
const seed = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const names = new Map<string, string>()
  for (const { archived, createdAt, metadata, name, policyVersion, status, tags } of seeds) {
    const { body } = yield* call("POST", "/runs", {
      body: descriptor({
        session: { ...(metadata !== undefined && { metadata }), ...(policyVersion !== undefined && { policyVersion }) },
        execution: { tags: tags ?? [] }
      })
    })
    names.set(body.runId, name)
    // From here on the observer only waits: nothing touches the row any more.
    yield* awaitStatus(RunId.make(body.runId), "starting")
    yield* sql`
      UPDATE runs SET created_at = ${createdAt}::timestamptz, updated_at = ${createdAt}::timestamptz,
                      status = ${status ?? "queued"}, archived_at = ${archived === true ? createdAt : null}::timestamptz
      WHERE id = ${body.runId}::uuid`
  }
  return names
})

const everything = ["d", "c", "b", "a"]
const cases: ReadonlyArray<readonly [query: string, expected: ReadonlyArray<string>]> = [
  ["", everything],
  ["includeArchived=true", ["e", ...everything]],
  ["includeArchived=1", everything],
  ["includeSandbox=true", everything],
  ["status=failed", ["c"]],
  ["tags=x", ["b", "a"]],
  ["tags=x,%20y", ["a"]],
  ["tags=x,nothing", []],
  ["environment=staging", ["a"]],
  ["environment=stag", []],
  ["scenarioRef=fast-check", ["b"]],
  ["scenarioRef=LOANS", ["c", "b"]],
  ["search=LOANS", ["c", "b"]],
  ["search=100%25_SURE", ["d"]],
  ["search=%25", ["d"]],
  ["search=FRAUD.strict", ["d"]],
  ["search=staging", ["a"]],
  ["search=stagingloans", []],
  ["createdAfter=2026-01-03", ["d"]],
  ["createdAfter=2026-01-02T23:59:59.999Z", ["d", "c"]],
  ["createdBefore=2026-01-02T00:00:00.000Z", ["a"]],
  ["createdAfter=2026-01-01&createdBefore=2026-01-04", ["c", "b"]],
  ["sortOrder=asc", ["a", "b", "c", "d"]],
  ["sortBy=updatedAt&sortOrder=asc", ["a", "b", "c", "d"]]
]

const badQueries = [
  "status=nope",
  "limit=0",
  "limit=201",
  "limit=x",
  "offset=-1",
  "sortBy=id",
  "sortOrder=up",
  "createdAfter=yesterday"
]

layer(layerTestService({ observer: { recoveryEnabled: false, sessionPollBaseMs: 60_000 } }), {
  excludeTestServices: true
})("GET /runs", (it) => {
  let names: Map<string, string> | undefined
  const list = Effect.fnUntraced(function* (query: string) {
    names ??= yield* seed
    const known = names
    const { body, status, text } = yield* call("GET", `/runs?${query}`)
    assert.strictEqual(status, 200, text)
    return { ...body, names: body.data.map((run: { id: string }) => known.get(run.id)) }
  })

  for (const [query, expected] of cases) {
    it.effect(`finds ${expected.join(", ") || "nothing"} by ?${query}`, () =>
      Effect.gen(function* () {
        const page = yield* list(query)
        assert.deepStrictEqual(page.names, expected)
        assert.strictEqual(page.total, expected.length)
      })
    )
  }

  it.effect("pages with the total of all matches", () =>
    Effect.gen(function* () {
      const page = yield* list("limit=2&offset=1")
      assert.deepStrictEqual(page.names, ["c", "b"])
      assert.deepStrictEqual([page.total, page.limit, page.offset], [4, 2, 1])
      const beyond = yield* list("offset=100")
      assert.deepStrictEqual(beyond.names, [])
      assert.strictEqual(beyond.total, 4)
      assert.strictEqual(beyond.limit, 50)
    })
  )

  it.effect("finds a run by part of its id", () =>
    Effect.gen(function* () {
      const page = yield* list("")
      const { id } = page.data[0]
      const found = yield* list(`search=${id.slice(0, 13).toUpperCase()}`)
      assert.deepStrictEqual(found.names, ["d"])
    })
  )

  for (const query of badQueries) {
    it.effect(`refuses ?${query}`, () =>
      Effect.gen(function* () {
        const { body, status } = yield* call("GET", `/runs?${query}`)
        assert.strictEqual(status, 400)
        assert.strictEqual(body.errorCode, "VALIDATION_ERROR")
        assert.isArray(body.message)
      })
    )
  }
})
