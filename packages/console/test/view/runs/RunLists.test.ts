import { assert, describe, it } from "@effect/vitest"
import { facetFields, Run, runQueryFields } from "@runplane/api"
import { parseQuery, projectAll } from "@runplane/domain"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { headerSort, runParams } from "../../../src/pages/runs/RunQuery.ts"
import { nameParts } from "../../../src/view/format/NameCut.ts"
import { refusalOf } from "../../../src/view/run/Actions.ts"
import { relatedSearches } from "../../../src/view/run/Related.ts"
import { runFacts } from "../../../src/view/run/RunFacts.ts"
import { facetRequests, facetsOf, withFacet } from "../../../src/view/runs/FacetCounts.ts"
import { runLine } from "../../../src/view/runs/RunLine.ts"
import { waitsOf } from "../../../src/view/runs/Waits.ts"
import { DECISION, eventsOf } from "../../support.ts"

describe("a name in a list", () => {
  it("keeps its version and the end before it, where names of one family differ", () => {
    const [start, end] = nameParts("procurement/quarterly-review-north@2.1.0")
    assert.strictEqual(start + end, "procurement/quarterly-review-north@2.1.0")
    assert.strictEqual(end, "ew-north@2.1.0")
    assert.notStrictEqual(end, nameParts("procurement/quarterly-review-south@2.1.0")[1])
    assert.deepStrictEqual(nameParts("short@1.0.0"), ["short@1.0.0", ""])
  })

  it.prop("is whole in its two parts", [Schema.String], ([name]) => {
    const [start, end] = nameParts(name)
    assert.strictEqual(start + end, name)
    assert.isAtMost([...end].length, 18 * 8)
  })
})

const run = (over: Readonly<Record<string, unknown>>) =>
  Schema.decodeUnknownSync(Run)({
    id: "82fd0968-6181-4782-a13c-c7033c2834f3",
    runId: "82fd0968-6181-4782-a13c-c7033c2834f3",
    status: "completed",
    mode: "live",
    runtimeKind: "rust",
    runtimeSessionId: "s",
    traceId: "034924b97a84f4ff73d9698a36a5eba1",
    lastEventSeq: 9,
    lastEventIndex: 9,
    tags: [],
    metadata: {},
    createdAt: "2026-07-01T10:00:00.000Z",
    updatedAt: "2026-07-01T10:00:04.500Z",
    startedAt: "2026-07-01T10:00:00.000Z",
    archivedAt: null,
    ...over
  })

describe("the second line of a run on a phone", () => {
  it("has verdict, cost, duration and id, as far as they are known", () => {
    const decision = { verdict: "for", word: "Approved", counts: "2 for, 0 against, 2 of 2 voted", asOfSeq: 9 } as const
    const ended = run({ endedAt: "2026-07-01T10:00:04.500Z", decision, metadata: { estimatedCostUsd: 0.5 } })
    assert.strictEqual(runLine(ended, runFacts(ended)), "Approved · $0.50 · 4.5 s · 82fd0968")
    const failed = run({ errorCode: "SESSION_LOST" })
    assert.strictEqual(runLine(failed, runFacts(failed)), "SESSION_LOST · 82fd0968")
  })
})

describe("the header of a column", () => {
  it("sorts by it, the greatest first, and then in the other direction", () => {
    assert.deepStrictEqual(headerSort("newest", "cost"), { state: "none", next: "dearest" })
    assert.deepStrictEqual(headerSort("dearest", "cost"), { state: "descending", next: "cheapest" })
    assert.deepStrictEqual(headerSort("cheapest", "cost"), { state: "ascending", next: "dearest" })
    assert.deepStrictEqual(headerSort("newest", "createdAt"), { state: "descending", next: "oldest" })
    assert.deepStrictEqual(headerSort("newest", "mark.quality"), { state: "none", next: "mark.quality desc" })
    assert.deepStrictEqual(headerSort("mark.quality desc", "mark.quality"), {
      state: "descending",
      next: "mark.quality asc"
    })
  })

  it("keeps its order in the address, and reads no other", () => {
    for (const order of ["newest", "fewest-tokens", "mark.quality asc"] as const) {
      assert.strictEqual(runParams.sort.read(runParams.sort.write(order) ?? null), order)
    }
    for (const text of ["mark.1 desc", "mark.x up", "cost desc; drop", ""]) {
      assert.strictEqual(runParams.sort.read(text), "newest")
    }
  })
})

describe("for whom a run waits", () => {
  const after = (count: number) => waitsOf(projectAll("run-1", eventsOf(DECISION.slice(0, count))))

  it("is the participants that have not answered a message to them, since the last message", () => {
    const asked = {
      type: "message.received",
      data: { messageType: "Question", sender: "lead", messageId: "m-9", to: ["ana", "bob"] }
    }
    const answered = { type: "message.received", data: { messageType: "Answer", sender: "ana", messageId: "m-10" } }
    const running = { type: "run.started", data: { status: "running" } }
    const waits = waitsOf(projectAll("run-1", eventsOf([running, asked, answered])))
    assert.deepStrictEqual(waits?.participants, ["bob"])
    assert.strictEqual(waits?.since, "2026-07-01T10:00:00.200Z")
  })

  it("is unknown for an ended run", () => {
    assert.isUndefined(after(DECISION.length))
  })
})

describe("the runs that belong to a run", () => {
  const ofId = [
    ...["clonedFrom", "againOf"].map((key) => `metadata.${key}:82fd0968-6181-4782-a13c-c7033c2834f3`),
    "metadata.linkedSession:s"
  ]

  it("are the session that its spans name and may not join", () => {
    const record = run({ runtimeKind: "otlp", metadata: { linkedSession: "s1" } })
    const searches = relatedSearches(record, runFacts(record)).map(({ q }) => q)
    assert.deepStrictEqual(searches, [...ofId.slice(0, 2), "runtimeSessionId:s1"])
    for (const q of searches) assert.isTrue(Result.isSuccess(parseQuery(q, runQueryFields)), q)
  })

  it("are those of its conversation and its scenario, as searches that parse", () => {
    const record = run({ sourceRef: "incident/region failover@1.0.0", metadata: { conversationId: 'a "b"' } })
    const searches = relatedSearches(record, runFacts(record))
    assert.deepStrictEqual(
      searches.map(({ q }) => q),
      [...ofId, 'conversation:"a \\"b\\""', 'scenario:"incident/region failover@1.0.0"']
    )
    for (const { q } of searches) assert.isTrue(Result.isSuccess(parseQuery(q, runQueryFields)), q)
    assert.deepStrictEqual(
      relatedSearches(run({}), runFacts(run({}))).map(({ q }) => q),
      ofId
    )
  })

  it("begin with its original, or the run that it repeats", () => {
    const other = "0d9c6f5f-6181-4782-a13c-c7033c2834f3"
    const firstOf = (metadata: Readonly<Record<string, unknown>>) =>
      relatedSearches(run({ metadata }), runFacts(run({ metadata })))[0]
    assert.deepInclude(firstOf({ clonedFrom: other }), { title: "Clone of", q: `id:${other}` })
    assert.deepInclude(firstOf({ againOf: other }), { title: "Run again of", q: `id:${other}` })
    // Metadata is the caller's: a text that is not an id leads to no search.
    assert.deepInclude(firstOf({ againOf: "x OR y" }), { title: "Clones of this run" })
  })
})

describe("the facets of a list", () => {
  it("count a filtered field without its own filter, and the others with all filters", () => {
    const q = "status:failed environment:prod word"
    const columns = facetFields.filter((field) => field !== "sourceRef")
    assert.deepStrictEqual(facetRequests("word"), [{ fields: columns, q: "word" }])
    const [rest, ...own] = facetRequests(q)
    assert.strictEqual(rest?.q, q)
    assert.deepStrictEqual(own, [
      { fields: ["status"], q: "environment:prod word" },
      { fields: ["environment"], q: "status:failed word" }
    ])
    assert.deepStrictEqual(
      [...(rest?.fields ?? []), ...own.flatMap(({ fields }) => fields)].toSorted(),
      columns.toSorted()
    )
  })

  it("keep the order of the fields, and a chosen value that no run has", () => {
    const answers = [
      { facets: [{ field: "tags" as const, values: [{ value: "a b", count: 2 }] }] },
      { facets: [{ field: "status" as const, values: [{ value: "completed", count: 7 }] }] }
    ]
    assert.deepStrictEqual(facetsOf('status:failed tags:"a b"', answers), [
      [
        "status",
        [
          { value: "completed", count: 7, isOn: false },
          { value: "failed", count: 0, isOn: true }
        ]
      ],
      ["tags", [{ value: "a b", count: 2, isOn: true }]]
    ])
  })

  it("add and remove a value of the search, which parses", () => {
    const both = withFacet(withFacet("word", "tags", 'a "b"'), "status", "failed")
    assert.isTrue(Result.isSuccess(parseQuery(both, runQueryFields)), both)
    const more = withFacet(both, "status", "completed")
    assert.include(more, "status:(failed,completed)")
    assert.strictEqual(
      withFacet(withFacet(more, "status", "failed"), "status", "completed"),
      withFacet("word", "tags", 'a "b"')
    )
  })
})

describe("an archived run", () => {
  it("can be unarchived, and only then", () => {
    assert.isUndefined(refusalOf("unarchive", "completed", run({ archivedAt: "2026-07-02T00:00:00.000Z" })))
    assert.strictEqual(refusalOf("unarchive", "completed", run({})), "The run is not archived")
  })
})
