import { assert, describe, it } from "@effect/vitest"
import { eventQueryFields } from "@runplane/api"
import { parseQuery, RunId } from "@runplane/domain"
import * as Result from "effect/Result"
import type { CrossRunFilter } from "../../../src/queries/events/CrossRunEvents.ts"
import { eventQueryOf } from "../../../src/queries/query/EventQuery.ts"

const RUN = "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10"
const none: CrossRunFilter = { afterSeq: 0, types: [] }

const read = (q: string, filter: Partial<CrossRunFilter> = {}) => {
  const { conditions, ...found } = eventQueryOf(
    { ...none, ...filter },
    Result.getOrThrow(parseQuery(q, eventQueryFields)),
    Date.parse("2026-07-02T00:00:00.000Z")
  )
  return { ...found, hasConditions: conditions !== undefined }
}

const filters = (filter: Partial<CrossRunFilter>, more = {}) => ({
  filter: { ...none, ...filter },
  upToSeq: undefined,
  hasConditions: false,
  ...more
})

describe("a search over events", () => {
  it.each<readonly [string, Partial<CrossRunFilter>, ReturnType<typeof filters>]>([
    ["", {}, filters({})],
    ["type:run.failed", {}, filters({ types: ["run.failed"] })],
    ["type:(run.failed,run.completed)", {}, filters({ types: ["run.failed", "run.completed"] })],
    ["type:(run.failed,run.completed)", { types: ["run.completed", "x"] }, filters({ types: ["run.completed"] })],
    ["type:run.failed type:run.completed", {}, filters({ types: [""] })],
    [`runId:${RUN}`, {}, filters({ runId: RunId.make(RUN) })],
    [
      `runId:${RUN}`,
      { runId: RunId.make(RUN.replace("5", "6")) },
      filters({ runId: RunId.make(RUN.replace("5", "6")), types: [""] })
    ],
    ["ts:2026-07-01", {}, filters({ afterTs: "2026-07-01T00:00:00.000Z", beforeTs: "2026-07-02T00:00:00.000Z" })],
    ["ts:now-1d..", {}, filters({ afterTs: "2026-07-01T00:00:00.000Z" })],
    ["ts:>2026-07-01", { afterTs: "2026-08-01T00:00:00.000Z" }, filters({ afterTs: "2026-08-01T00:00:00.000Z" })],
    ["ts:<2026-07-01", {}, filters({ beforeTs: "2026-07-01T00:00:00.000Z" })],
    ["seq:>10", { afterSeq: 3 }, filters({ afterSeq: 10 })],
    ["seq:>=10.5", {}, filters({ afterSeq: 10 })],
    ["seq:5..9", {}, filters({ afterSeq: 4 }, { upToSeq: 9 })],
    ["seq:<5", {}, filters({}, { upToSeq: 4 })],
    ["seq:<-5", {}, filters({}, { upToSeq: 0 })],
    ["type:run.failed sender:a", {}, filters({ types: ["run.failed"] }, { hasConditions: true })],
    ["type:run.failed OR sender:a", {}, filters({}, { hasConditions: true })],
    ["-type:run.failed", {}, filters({}, { hasConditions: true })]
  ])("puts into a filter what it can say: %s %j", (q, given, expected) => {
    assert.deepStrictEqual(read(q, given), expected)
  })
})
