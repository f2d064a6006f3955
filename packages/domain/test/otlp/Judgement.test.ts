import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { isUuid, judgementOf, MarkJudge, MarkName, MarkValue, type TraceFoldMark } from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { pick } from "../support/arbitraries.ts"

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")
const options = { runId: "run", sha256 }
const stated = (over: Partial<TraceFoldMark> = {}): TraceFoldMark => ({
  id: "a/b#0",
  name: "relevance",
  value: 0.5,
  spanId: "b",
  ...over
})

describe("a judgement of telemetry", () => {
  it("has the score, then the label, and the explanation as its comment", () => {
    const { id, ...rest } = judgementOf(stated({ label: "fair", explanation: "off topic" }), options)
    assert.isTrue(isUuid(id))
    assert.deepStrictEqual(rest, {
      name: "relevance",
      values: [0.5, "fair"],
      comment: "off topic",
      judge: { name: "relevance" }
    })
  })

  it("has the same id for the same run and position, and another one for others", () => {
    const ids = [stated(), stated({ id: "a/b#1" })].map((mark) => judgementOf(mark, options).id)
    assert.strictEqual(judgementOf(stated({ value: 1 }), options).id, ids[0])
    assert.notStrictEqual(ids[0], ids[1])
    assert.notStrictEqual(judgementOf(stated(), { ...options, runId: "other" }).id, ids[0])
  })

  it.each([
    ["Answer Relevancy", "Answer_Relevancy"],
    ["1. tone (v2)", "tone_v2"],
    ["Größe", "Gr_e"],
    ["正しさ", "evaluation"]
  ])("called %s has a name by the rule of names", (name, cleaned) => {
    const judgement = judgementOf(stated({ name }), options)
    assert.strictEqual(judgement.name, cleaned)
    assert.strictEqual(judgement.judge.name, name)
  })

  it.each<[Partial<TraceFoldMark>, ReadonlyArray<MarkValue>]>([
    [{ value: 1 }, [true]],
    [{ value: 0, label: "incorrect" }, [false, false]],
    [{ value: 0.7 }, []],
    [{ value: 0.7, label: "Correct" }, [true]],
    [{ value: "Yes" }, [true]],
    [{ value: 0.2, label: " wrong " }, [false]],
    [{ value: "rollback" }, ["rollback"]],
    [{ value: false }, [false]]
  ])("called correct reads %j as a truth", (over, values) => {
    assert.deepStrictEqual(judgementOf(stated({ name: "correct", ...over }), options).values, values)
  })

  const pieces = [
    "a",
    "9",
    "_",
    " ",
    "\n",
    "\u202e",
    "\u0000",
    "日",
    "\u{1F600}",
    "\u{E0041}",
    "\ud83d",
    "x".repeat(90)
  ]
  const text = Arbitrary.map(Arbitrary.array(pick(pieces)), (parts) => parts.join(""))
  it.prop("is a mark, whatever the texts are", { name: text, value: text, explanation: text }, (given) => {
    const judgement = judgementOf(stated(given), options)
    assert.isTrue(Schema.is(MarkName)(judgement.name))
    assert.isTrue(Schema.is(MarkJudge)(judgement.judge))
    for (const each of judgement.values) assert.isTrue(Schema.is(MarkValue)(each))
    assert.isTrue(judgement.comment?.isWellFormed())
  })
})
