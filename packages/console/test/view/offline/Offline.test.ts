import { assert, describe, it } from "@effect/vitest"
import { Run } from "@runplane/api"
import type { ExportedMarkEntry, MarkValue } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { answerOf, marksOf, type OfflineRun } from "../../../src/view/offline/OfflineAnswers.ts"
import { offlinePage } from "../../../src/view/offline/OfflinePage.ts"

const ID = "82fd0968-6181-4782-a13c-c7033c2834f3"

const added = (position: number, over: { author?: string; name?: string; value?: MarkValue; judge?: string } = {}) => {
  const { author = "ann", judge, name = "quality", value = position } = over
  return {
    ...{ position, previous: "", action: "add", id: `m${position}`, target: { kind: "run" }, name, author },
    ...{ source: "human", createdAt: "2026-07-01T10:00:00.000Z", contentSha256: "" },
    content: { nonce: "", value, ...(judge !== undefined && { judge: { name: judge } }) }
  } satisfies ExportedMarkEntry
}

const deleted = (position: number, id: string): ExportedMarkEntry => ({
  ...{ position, previous: "", action: "delete", id, deletedAt: "2026-07-02T10:00:00.000Z", deletedBy: "ann" }
})

describe("the marks of an exported run", () => {
  const idsOf = (entries: ReadonlyArray<ExportedMarkEntry>) => marksOf(ID, entries).map(({ id }) => id)

  it("are the current ones, the newest first", () => {
    assert.deepStrictEqual(idsOf([added(1), added(2), added(3, { author: "bob" })]), ["m3", "m2"])
    assert.deepStrictEqual(idsOf([added(1, { judge: "j" }), added(2, { author: "bob", judge: "j" }), added(3)]), [
      "m3",
      "m2"
    ])
    assert.deepInclude(marksOf(ID, [added(1)])[0], { runId: ID, value: 1, author: "ann" })
  })

  it("keep comments beside each other, and stay replaced when the later one is deleted", () => {
    const comment = { name: "comment", value: true }
    assert.deepStrictEqual(idsOf([added(1, comment), added(2, comment)]), ["m2", "m1"])
    assert.deepStrictEqual(idsOf([added(1), added(2), deleted(3, "m2")]), [])
  })
})

const run = Schema.decodeUnknownSync(Run)({
  ...{ id: ID, runId: ID, status: "completed", mode: "live", runtimeKind: "rust", runtimeVersion: "v1" },
  ...{
    runtimeSessionId: ID,
    traceId: "t",
    createdAt: "2026-07-01T10:00:00.000Z",
    updatedAt: "2026-07-01T10:00:00.000Z"
  },
  ...{ lastEventSeq: 9, lastEventIndex: 3, tags: [], archivedAt: null, metadata: {} }
})
const exported: OfflineRun = {
  ...{ run, projection: null, artifacts: [], exportedAt: "2026-07-02T10:00:00.000Z" },
  canonicalEvents: [{ seq: 3 }, { seq: 6 }, { seq: 9 }],
  marks: { entries: [added(1)], head: { runId: ID, entries: 1, head: "", keyId: null, signature: null } }
}
const ask = (path: string, method = "GET") => {
  const { body, status } = answerOf(exported, method, new URL(`file:///home/ann/null${path}`))
  return { status, body: body.startsWith("{") || body.startsWith("[") ? JSON.parse(body) : body }
}

describe("the answers of an exported run", () => {
  it("are those of the service, page by page", () => {
    assert.strictEqual(ask(`/runs/${ID}`).body.id, ID)
    assert.deepStrictEqual(ask(`/runs/${ID}/events?afterSeq=3&limit=1`).body, [{ seq: 6 }])
    assert.deepInclude(ask(`/runs/${ID}/marks?limit=500&offset=0`).body, { total: 1, limit: 500, offset: 0 })
    assert.deepStrictEqual(ask(`/runs/${ID}/marks?limit=1&offset=1`).body.data, [])
    assert.strictEqual(ask("/me").body.role, "viewer")
    const stream = ask(`/runs/${ID}/stream?afterSeq=6`).body
    assert.strictEqual(stream, 'event: canonical_event\ndata: {"seq":9}\n\n')
  })

  it("refuse changes, and what the export does not have", () => {
    assert.deepInclude(ask(`/runs/${ID}/marks`, "POST"), { status: 405 })
    assert.deepInclude(ask("/runs?limit=1"), { status: 404 })
    assert.deepInclude(ask("/policies/p").body, { errorCode: "NOT_FOUND", statusCode: 404 })
  })
})

describe("the page of an exported run", () => {
  it.prop("has the run as it is, and no text of an agent as markup", [Schema.Json], ([bundle]) => {
    const hostile = JSON.stringify({ bundle, text: "</script><script>alert(1)</script><!-- $& $1" })
    const page = offlinePage("<a><!--exported-run--><b>", "x", '{"id":"<r>"}', hostile)
    const [, json = ""] = /^<a><script type="application\/json" id="x">(.*)<\/script><b>$/s.exec(page) ?? []
    assert.notInclude(json, "<")
    assert.deepStrictEqual(JSON.parse(json), { record: { id: "<r>" }, bundle: JSON.parse(hostile) })
  })

  it("needs the template of the build", () => {
    assert.throws(() => offlinePage("<html>", "x", "{}", "{}"), /template/)
  })
})
