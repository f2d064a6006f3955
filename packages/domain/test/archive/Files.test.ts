import { assert, describe, it } from "@effect/vitest"
import {
  ARCHIVE_TABLES,
  type ArchiveFile,
  archiveFile,
  archivePath,
  currentFiles,
  dayOf,
  eventRow,
  isCellName,
  planMerges,
  type SizedFile,
  supersededBy
} from "@runplane/domain"
import * as Schema from "effect/Schema"

const file = (from: number, to: number, day = "2026-11-26"): ArchiveFile => ({
  table: "events",
  day,
  cell: "main",
  from,
  to
})
const sized = (from: number, to: number, rows: number, bytes: number, day?: string): SizedFile => ({
  ...file(from, to, day),
  rows,
  bytes
})

const Position = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))

describe("the path of a file", () => {
  it("names the table, the day, the cell and the range", () => {
    assert.strictEqual(
      archivePath(file(1, 20_000)),
      "events/dt=2026-11-26/main-0000000000000001-0000000000020000.parquet"
    )
  })

  it.prop(
    "is read back as the same file",
    {
      table: Schema.Literals([...ARCHIVE_TABLES]),
      cell: Schema.Literals(["main", "eu-west_1", "a-0000000000000001"]),
      day: Schema.Literals(["2026-01-01", "1970-01-01", "9999-12-31"]),
      a: Position,
      b: Position
    },
    ({ a, b, cell, day, table }) => {
      const given = { table, cell, day, from: Math.min(a, b), to: Math.max(a, b) }
      assert.deepStrictEqual(archiveFile(archivePath(given)), given)
    }
  )

  it.prop("sorts as its range does", { a: Position, b: Position }, ({ a, b }) => {
    assert.strictEqual(archivePath(file(a, a)) < archivePath(file(b, b)), a < b)
  })

  it.each([
    "events/dt=2026-11-26/main-1-2.parquet",
    "events/dt=2026-11-26/main-0000000000000002-0000000000000001.parquet",
    "events/dt=2026-11-26/main-0000000000000001-0000000000000002.parquet.tmp",
    "others/dt=2026-11-26/main-0000000000000001-0000000000000002.parquet",
    "events/main-0000000000000001-0000000000000002.parquet",
    "events/dt=2026-11-26/Main-0000000000000001-0000000000000002.parquet"
  ])("refuses %s", (path) => assert.isUndefined(archiveFile(path)))
})

describe("a cell", () => {
  it.each([
    ["main", true],
    ["eu-west_1", true],
    ["", false],
    ["A", false],
    ["-a", false],
    ["a/b", false],
    ["a".repeat(64), false]
  ])("%j is a name: %s", (name, expected) => assert.strictEqual(isCellName(name), expected))
})

describe("a day", () => {
  it.each([
    ["1970-01-01", 0],
    ["1970-01-01", 86_399_999],
    ["1970-01-02", 86_400_000],
    ["1969-12-31", -1],
    ["2026-11-26", Date.parse("2026-11-26T23:59:59.999Z")]
  ])("is %s at %d", (day, ts) => assert.strictEqual(dayOf(ts), day))
})

describe("the files that count", () => {
  const paths = (...files: ReadonlyArray<ArchiveFile>) => files.map(archivePath)

  it("are all of them, when no range includes another", () => {
    const all = paths(file(1, 10), file(11, 20), file(1, 10, "2026-11-27"))
    assert.sameMembers([...currentFiles(all.toReversed())], all)
  })

  it("are the merged file alone while its parts are there", () => {
    const merged = file(1, 30)
    const found = currentFiles(paths(file(1, 10), file(11, 20), merged, file(21, 30), file(31, 40)))
    assert.deepStrictEqual([...found], paths(merged, file(31, 40)))
  })

  it("leave out temporary files and files of others", () => {
    assert.deepStrictEqual(
      currentFiles(["events/dt=2026-11-26/.main.tmp", "README", ...paths(file(1, 2))]),
      paths(file(1, 2))
    )
  })

  it.prop(
    "cover each position once, whatever part of a merge has been removed",
    {
      cuts: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 50 }))),
      merged: Schema.Array(Schema.Boolean),
      removed: Schema.Array(Schema.Boolean)
    },
    ({ cuts, merged, removed }) => {
      let from = 1
      const files = cuts.map((length) => {
        const made = sized(from, from + length - 1, length, length)
        from += length
        return made
      })
      const merges = planMerges(files, "2026-11-27", { rows: 100, bytes: 100 }, () => false).filter(
        (_, index) => merged[index] === true
      )
      const gone = new Set(merges.flatMap(supersededBy).filter((_, index) => removed[index] === true))
      const there = [...files.map(archivePath), ...merges.map(({ into }) => archivePath(into))]
      const counted = currentFiles(there.filter((path) => !gone.has(path))).flatMap((path) => archiveFile(path) ?? [])
      const positions = counted.flatMap((one) => Array.from({ length: one.to - one.from + 1 }, (_, i) => one.from + i))
      assert.deepStrictEqual(
        positions,
        Array.from({ length: from - 1 }, (_, index) => index + 1)
      )
    }
  )
})

describe("a plan of merges", () => {
  const bounds = { rows: 100, bytes: 1_000 }
  const clean = () => false

  it("merges neighbours up to the bounds, and leaves files of open days alone", () => {
    const files = [sized(1, 40, 40, 10), sized(41, 80, 40, 10), sized(81, 120, 40, 10), sized(121, 130, 10, 995)]
    const open = sized(131, 140, 1, 1, "2026-11-27")
    const merges = planMerges([...files, open, { ...open, from: 141, to: 150 }], "2026-11-27", bounds, clean)
    assert.deepStrictEqual(merges, [{ into: file(1, 80), parts: [file(1, 40), file(41, 80)] }])
  })

  it("replaces a single file only to remove rows", () => {
    const files = [sized(1, 100, 100, 10), sized(101, 200, 100, 10)]
    assert.deepStrictEqual(planMerges(files, "2026-11-27", bounds, clean), [])
    const merges = planMerges(files, "2026-11-27", bounds, ({ from }) => from === 101)
    assert.deepStrictEqual(merges, [{ into: file(101, 200), parts: [file(101, 200)] }])
    assert.deepStrictEqual(merges.flatMap(supersededBy), [])
  })
})

describe("the row of an event", () => {
  const base = { seq: 7, runId: "r", index: 1, ts: 5, type: "llm.call.completed", salts: null }

  it("keeps a text that is not an event as it is", () => {
    const row = eventRow("main", { ...base, text: "{not json" })
    assert.strictEqual(row.event, "{not json")
    assert.isNull(row.model)
    assert.isNull(row.subject_kind)
  })

  it("has the figures of a model call", () => {
    const text = JSON.stringify({
      ...{ id: "e", runId: "r", seq: 7, index: 1, ts: "2026-11-26T00:00:00.000Z", type: base.type, schemaVersion: 3 },
      subject: { kind: "message", id: "m" },
      source: { kind: "runtime", name: "sandbox" },
      data: {
        sender: "critic",
        decodedPayload: { model: "m1", promptTokens: 10, completionTokens: 2, estimatedCostUsd: 0.5, costBasis: "rate" }
      }
    })
    const row = eventRow("main", { ...base, text })
    const { calls, completion_tokens, cost_usd, model, prompt_tokens, sender, subject_id, total_tokens } = row
    assert.deepStrictEqual(
      { calls, completion_tokens, cost_usd, model, prompt_tokens, sender, subject_id, total_tokens },
      {
        calls: 1,
        completion_tokens: 2,
        cost_usd: 0.5,
        model: "m1",
        prompt_tokens: 10,
        sender: "critic",
        subject_id: "m",
        total_tokens: 12
      }
    )
  })
})
