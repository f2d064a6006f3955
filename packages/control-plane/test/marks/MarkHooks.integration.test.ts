import { randomUUID } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { type AddedMark, MarkWriter } from "../../src/marks/MarkWriter.ts"
import { call, layerTestService } from "../support/HttpService.ts"
import { createRun } from "../support/Runs.ts"

/**
 * Row triggers that note each change of marks as a database sees it, and the rows that features write. `expected` and
 * `written` have both in their order.
 */
const observed = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  for (const table of ["expected", "written"]) {
    yield* sql`
      CREATE TABLE ${sql(table)} (ordinal bigint GENERATED ALWAYS AS IDENTITY, feature text, mark uuid, run_id uuid,
                                  name text, at timestamptz, value float8, n int, telemetry text)`
  }
  yield* sql`
    CREATE FUNCTION expect_change() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
      was boolean := TG_OP = 'UPDATE' AND OLD.replaced_by IS NULL AND OLD.deleted_at IS NULL;
      is_current boolean := NEW.replaced_by IS NULL AND NEW.deleted_at IS NULL;
      score double precision :=
        CASE WHEN was THEN coalesce(OLD.number, OLD.flag::int) ELSE coalesce(NEW.number, NEW.flag::int) END;
      sign int := CASE WHEN was THEN -1 ELSE 1 END;
    BEGIN
      IF was <> is_current AND score IS NOT NULL AND NEW.name IN ('tone', 'helpful') THEN
        INSERT INTO expected (feature, run_id, name, at, value, n, telemetry)
        VALUES ('alerts', NEW.run_id, NEW.name, NEW.created_at, sign * round(score * 1000000000), sign,
                telemetry_of_mark(NEW.author));
      END IF;
      INSERT INTO expected (feature, mark, run_id) VALUES ('archive', NEW.id, NEW.run_id);
      RETURN NULL;
    END $$`
  yield* sql`CREATE TRIGGER expect_change AFTER INSERT OR UPDATE ON marks FOR EACH ROW EXECUTE FUNCTION expect_change()`
  yield* sql`
    CREATE FUNCTION note_written() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_TABLE_NAME = 'alert_marks' THEN
        INSERT INTO written (feature, run_id, name, at, value, n, telemetry)
        VALUES ('alerts', NEW.run_id, NEW.name, NEW.at, NEW.value, NEW.n, NEW.telemetry);
      ELSE
        INSERT INTO written (feature, mark, run_id) VALUES ('archive', NEW.id, NEW.run_id);
      END IF;
      RETURN NULL;
    END $$`
  yield* sql`CREATE TRIGGER note_alert AFTER INSERT ON alert_marks FOR EACH ROW EXECUTE FUNCTION note_written()`
  yield* sql`
    CREATE TRIGGER note_archive AFTER INSERT OR UPDATE ON archive_changes FOR EACH ROW
    WHEN (NEW.table_name = 'marks') EXECUTE FUNCTION note_written()`
  yield* sql`INSERT INTO archive_state (cell, url) VALUES ('main', 'file:///archive')`
})

interface NotedRow {
  readonly mark: string | null
  readonly run_id: string
  readonly name: string | null
  readonly at: Date | null
  readonly value: number | null
  readonly n: number | null
  readonly telemetry: string | null
}

const rowsOf = Effect.fnUntraced(function* (table: "expected" | "written", feature: string) {
  const sql = yield* PgClient.PgClient
  return yield* sql<NotedRow>`
    SELECT mark::text AS mark, run_id::text AS run_id, name, at, value, n, telemetry FROM ${sql(table)}
    WHERE feature = ${feature} ORDER BY ordinal`
})

const addRule = (mark: string) =>
  call("POST", "/alerts/rules", {
    body: {
      ...{ id: `r-${randomUUID()}`, name: mark, per: "all", window: "month", measure: `markBelow:${mark}` },
      levels: [{ at: 0.1, severity: "warning", actions: [] }]
    }
  })

const addMark = Effect.fnUntraced(function* (
  runId: string,
  name: string,
  value: boolean | number | string,
  by: string
) {
  const body = { target: { kind: "run" }, name, value, source: "judge", judge: { name: by } }
  const answer = yield* call("POST", `/runs/${runId}/marks`, { body })
  assert.strictEqual(answer.status, 201, answer.text)
  return String(answer.body.id)
})

const removeMark = Effect.fnUntraced(function* (runId: string, id: string, query = "") {
  const answer = yield* call("DELETE", `/runs/${runId}/marks/${id}${query}`)
  assert.strictEqual(answer.status, 204, answer.text)
})

/** A mark of telemetry; the marks of one judge with one name share a slot. */
const telemetryMark = (runId: string, name: string, value: number, judge: string): AddedMark => ({
  ...{ id: randomUUID(), runId: RunId.make(runId), target: { kind: "run" }, name, value, judge: { name: judge } },
  ...{ source: "judge", author: "source:langfuse", createdAt: "2027-01-02T03:04:05.678Z" }
})

const addTogether = Effect.fnUntraced(function* (runId: string, marks: ReadonlyArray<AddedMark>) {
  const sql = yield* PgClient.PgClient
  const writer = yield* MarkWriter
  const add = Effect.gen(function* () {
    const chain = yield* writer.lock(RunId.make(runId))
    if (chain === undefined) return yield* Effect.die("no such run")
    yield* writer.add(chain, marks)
  })
  yield* sql.withTransaction(add)
})

layer(layerTestService(), { excludeTestServices: true })("the hooks of marks", (it) => {
  it.effect("get each change that a row trigger sees, in its order", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      yield* observed
      yield* addRule("tone")
      yield* addRule("helpful")
      const runId = yield* createRun({ status: "running", createdAt: new Date().toISOString() })
      const first = yield* addMark(runId, "tone", 0.123456789012, "a")
      const second = yield* addMark(runId, "tone", 0.3, "a")
      yield* addMark(runId, "helpful", true, "a")
      yield* addMark(runId, "helpful", false, "b")
      yield* addMark(runId, "other", 7, "a")
      yield* addMark(runId, "tone", "rude", "c")
      // A replaced mark is erased: the sums stay.
      yield* removeMark(runId, first)
      // The current one is erased, and has no mark before it that still has a value.
      yield* removeMark(runId, second, "?restore=true")
      const third = yield* addMark(runId, "tone", 0.5, "d")
      const fourth = yield* addMark(runId, "tone", 0.6, "d")
      yield* addMark(runId, "tone", 0.7, "d")
      // The mark before the erased one is replaced by the one behind it.
      yield* removeMark(runId, fourth, "?restore=true")
      const last = yield* addMark(runId, "tone", 0.8, "d")
      yield* removeMark(runId, last, "?restore=true")
      yield* removeMark(runId, third)
      yield* removeMark(runId, third)
      // Marks of one write replace a stored one, and each other.
      yield* addTogether(runId, [telemetryMark(runId, "tone", 1, "x"), telemetryMark(runId, "helpful", 0.2, "y")])
      yield* addTogether(runId, [
        telemetryMark(runId, "tone", 0.9, "x"),
        telemetryMark(runId, "tone", 0.8, "x"),
        telemetryMark(runId, "helpful", 0.4, "z"),
        telemetryMark(runId, "other", 3, "y")
      ])
      for (const feature of ["alerts", "archive"]) {
        const expected = yield* rowsOf("expected", feature)
        assert.isAtLeast(expected.length, 20)
        assert.deepStrictEqual(yield* rowsOf("written", feature), expected)
      }
      // One UPDATE replaces both. Its triggers have no order; the hooks get the marks in the order of the chain.
      yield* sql`TRUNCATE expected, written`
      yield* addTogether(runId, [telemetryMark(runId, "helpful", 0.1, "y"), telemetryMark(runId, "tone", 0.2, "x")])
      const written = yield* rowsOf("written", "alerts")
      assert.deepStrictEqual(
        written.map(({ name, value }) => [name, value]),
        [
          ["helpful", -200_000_000],
          ["tone", -800_000_000],
          ["helpful", 100_000_000],
          ["tone", 200_000_000]
        ]
      )
      assert.sameDeepMembers([...written], [...(yield* rowsOf("expected", "alerts"))])
      assert.sameDeepMembers([...(yield* rowsOf("written", "archive"))], [...(yield* rowsOf("expected", "archive"))])
    })
  )
})
