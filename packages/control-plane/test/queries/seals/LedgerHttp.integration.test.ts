import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { LedgerPage } from "@runplane/api"
import { type Mismatch, walkLedger } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { afterAll } from "vitest"
import { makeAuditExpiry } from "../../../src/platform/audit/AuditExpiry.ts"
import { LedgerWriter } from "../../../src/platform/ledger/LedgerWriter.ts"
import { sha256 } from "../../../src/platform/Sha256.ts"
import { appendMessages } from "../../support/Appends.ts"
import { endedRun } from "../../support/EndedRuns.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { publishedKeys } from "../../support/SealTests.ts"

const numbered = Effect.flatMap(LedgerWriter, ({ numberPending }) => numberPending)

const page = Effect.fnUntraced(function* (query = "") {
  const { body, status, text } = yield* call("GET", `/ledger?${query}`)
  assert.strictEqual(status, 200, text)
  return yield* Schema.decodeUnknownEffect(LedgerPage)(body)
})

/** The contents of all entries of the ledger, and its head after each. */
const walked = Effect.gen(function* () {
  const walk = walkLedger(sha256, yield* publishedKeys)
  const { data } = yield* page()
  const states = data.map((entry) => ({ state: walk.take(entry), head: walk.head() }))
  const mismatches = states.map(({ state }) => state).filter((state): state is Mismatch => typeof state !== "string")
  return { data, mismatch: mismatches[0], head: walk.head(), heads: states.map(({ head }) => head) }
})

const contents = Effect.map(page(), ({ data }) => data.map(({ content, kind }) => `${kind} ${content}`))

const folder = mkdtempSync(join(tmpdir(), "runplane-heads-"))
afterAll(() => rmSync(folder, { recursive: true }))
const SEAL_HEADS_FILE = join(folder, "heads.jsonl")

layer(layerTestService({ settings: { SEAL_HEADS_FILE } }), { excludeTestServices: true })("the ledger", (it) => {
  it.effect("numbers seals, tombstones and audit entries, and compares their contents", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const [kept, deleted] = [yield* endedRun, yield* endedRun]
      yield* appendMessages(kept, 1)
      assert.strictEqual((yield* call("DELETE", `/runs/${deleted}`)).status, 204)
      assert.deepStrictEqual(
        yield* Effect.all([numbered, numbered], { concurrency: "unbounded" }).pipe(Effect.map(sum)),
        6
      )
      const { data, mismatch } = yield* walked
      assert.isUndefined(mismatch)
      assert.deepStrictEqual(
        data.map(({ number }) => number),
        [1, 2, 3, 4, 5, 6]
      )
      assert.isTrue(data.every(({ vouched }) => vouched))
      assert.sameMembers(
        data.map(({ content, kind }) => `${kind} ${content}`),
        ["key kept", "seal kept", "seal deleted", "seal kept", "tombstone kept", "audit kept"]
      )
      assert.include(
        data.map(({ subject }) => subject),
        `${kept}/3`
      )
      assert.deepStrictEqual(
        (yield* page("after=5")).data.map(({ number }) => number),
        [6]
      )
      assert.deepStrictEqual((yield* page()).unlisted, { seals: 0, tombstones: 0, auditEntries: 0 })
      assert.isUndefined((yield* page("limit=2")).unlisted)
      // What is published is the same, with the seals that are stored.
      const lines = readFileSync(SEAL_HEADS_FILE, "utf8").trimEnd().split("\n")
      const published = lines.map((line) => JSON.parse(line))
      assert.deepStrictEqual(
        published.map(({ seal: _, ...entry }) => entry),
        data.map(({ content: _, ...entry }) => entry)
      )
      const { earlier: _, ...seal } = (yield* call("GET", `/runs/${kept}/seal`)).body
      assert.deepStrictEqual(published.findLast((entry) => entry.seal !== undefined)?.seal, seal)

      // Each is changed or removed by a writer of the database.
      const after = (change: Effect.Effect<unknown, unknown>) =>
        Effect.gen(function* () {
          yield* change
          return yield* contents
        }).pipe(Effect.orDie)
      assert.include(yield* after(sql`UPDATE audit_log SET actor = 'mallory'`), "audit changed")
      assert.include(yield* after(sql`DELETE FROM audit_log`), "audit missing")
      assert.include(yield* after(sql`UPDATE run_tombstones SET deleted_by = 'retention'`), "tombstone changed")
      const seals = yield* after(sql`DELETE FROM run_tombstones`)
      assert.include(seals, "tombstone missing")
      assert.include(seals, "seal missing")
      assert.include(yield* after(sql`UPDATE run_seals SET seal = '{}'`), "seal changed")
      assert.include(yield* after(sql`UPDATE seal_key_statements SET statement = '{}'`), "key changed")
      assert.include(yield* after(sql`DELETE FROM seal_key_statements`), "key missing")
    })
  )

  it.effect("shows changed, removed and inserted entries, and contents without an entry", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      yield* endedRun
      yield* numbered
      const { data, mismatch } = yield* walked
      assert.isUndefined(mismatch)
      const last = data.length
      yield* sql`CREATE TABLE kept AS SELECT * FROM ledger`
      for (const [change, why] of [
        [
          sql`UPDATE ledger SET digest = repeat('0', 64) WHERE number = ${last}`,
          /signature of the entry is not its key's/
        ],
        [sql`UPDATE ledger SET vouched = false WHERE number = 2`, /signature of the entry/],
        [sql`UPDATE ledger SET key_id = NULL, signature = NULL, subject = 'x' WHERE number = 2`, /does not continue/],
        [sql`DELETE FROM ledger WHERE number = 2`, /missing; the next one is 3/],
        [sql`UPDATE ledger SET number = 100 - number WHERE number IN (2, 3)`, /missing/]
      ] as const) {
        yield* change
        assert.match((yield* walked).mismatch?.why ?? "", why)
        yield* sql`DELETE FROM ledger`
        yield* sql`INSERT INTO ledger SELECT * FROM kept`
      }
      yield* sql`INSERT INTO audit_log (actor, actor_type, action, resource, details, created_at)
                 VALUES ('x', 'user', 'run.cancel', 'run', '{}', now() + interval '1 second')`
      assert.strictEqual((yield* page()).unlisted?.auditEntries, 1)
      // A writer of the database cannot make the service vouch for it.
      yield* sql`INSERT INTO ledger_pending (kind, subject, digest, mac) SELECT 'audit', id, repeat('0', 64), 'x' FROM audit_log`
      yield* numbered
      assert.deepInclude((yield* walked).data.at(-1), { kind: "audit", vouched: false, content: "changed" })
      // A ledger that was cut goes on; what was published shows it.
      const { head, heads } = yield* walked
      assert.deepInclude(heads, head)
      yield* sql`DELETE FROM ledger WHERE number >= ${head.number - 1}`
      yield* endedRun
      yield* numbered
      const cut = yield* walked
      assert.isUndefined(cut.mismatch)
      assert.isAtLeast(cut.head.number, head.number - 1)
      assert.notInclude(
        cut.heads.map(({ hash }) => hash),
        head.hash
      )
    })
  )

  it.effect("shows that the marks of a run were removed with their chain, and not those of a deleted run", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const add = (runId: string, name: string) =>
        Effect.map(
          call("POST", `/runs/${runId}/marks`, {
            body: { target: { kind: "run" }, name, value: 1, source: "api" }
          }),
          ({ body, status, text }): string => {
            assert.strictEqual(status, 201, text)
            return body.id
          }
        )
      const [run, deleted, other] = [yield* endedRun, yield* endedRun, yield* endedRun]
      const mark = yield* add(run, "quality")
      yield* add(run, "speed")
      yield* add(deleted, "quality")
      yield* add(other, "quality")
      // A mark that is replaced or deleted over the API is not a removed one.
      yield* add(other, "quality")
      assert.strictEqual((yield* call("DELETE", `/runs/${run}/marks/${mark}`)).status, 204)
      assert.strictEqual((yield* call("DELETE", `/runs/${deleted}`)).status, 204)
      yield* numbered
      const lacking = Effect.map(page("limit=500"), ({ data }) =>
        data.filter(({ lacks }) => lacks !== undefined).map(({ content, kind, lacks }) => `${kind} ${content} ${lacks}`)
      )
      assert.deepStrictEqual(yield* lacking, [])
      const removed = "audit missing mark"
      yield* sql`UPDATE mark_chains SET entries = 2, marks = 1 WHERE run_id = ${run}::uuid`
      assert.deepStrictEqual(yield* lacking, [])
      yield* sql`DELETE FROM mark_chains WHERE run_id = ${run}::uuid`
      assert.deepStrictEqual(yield* lacking, [removed, removed, removed])
      yield* sql`DELETE FROM marks WHERE run_id = ${run}::uuid`
      assert.deepStrictEqual(yield* lacking, [removed, removed, removed])
    })
  )

  it.effect("marks expired audit entries", () =>
    Effect.gen(function* () {
      const auditEntries = yield* makeAuditExpiry
      const runId = yield* endedRun
      assert.strictEqual((yield* call("POST", `/runs/${runId}/archive`)).status, 201)
      yield* numbered
      yield* auditEntries.removeBatch(new Date(Date.now() + 60_000).toISOString())
      yield* numbered
      assert.include(yield* contents, "audit expired")
      assert.include(yield* contents, "expiry kept")
    })
  )

  it.effect("is listed within its limits", () =>
    Effect.gen(function* () {
      for (const query of ["limit=0", "limit=501", "after=-1", "after=x"]) {
        assert.strictEqual((yield* call("GET", `/ledger?${query}`)).status, 400, query)
      }
    })
  )
})

const sum = (counts: ReadonlyArray<number>): number => counts.reduce((total, count) => total + count, 0)
