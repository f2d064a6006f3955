import { assert, describe, it } from "@effect/vitest"
import { ItemState } from "@runplane/domain"
import * as Option from "effect/Option"
import { readButton } from "../../src/slack/SlackPayload.ts"
import { endMessage, endSentence, questionMessage } from "../../src/slack/SlackTexts.ts"

const HASH = "1a2b3c4d".repeat(8)
const ITEM = "5f2b0c9d-6a1e-4873-b2c5-d8f09e7a6b1c"
const question = {
  item: ITEM,
  title: "fail <!channel> & over",
  scenarioRef: "incident/night@1.0.0",
  seat: "officer",
  deadlineAt: "2026-11-30T14:00:00.000Z",
  proposalHash: HASH,
  basis: { ordinal: 4, sha256: HASH },
  acts: ["approve", "reject", "abstain", "evaluate", "object"],
  reason: "optional",
  takesPresses: true
} as const

describe("the texts in Slack", () => {
  it("have a button for each act that needs no more values, bound to hash and basis", () => {
    const { blocks } = questionMessage(question, "https://x.test")
    const text = JSON.stringify(blocks)
    assert.include(text, "fail &lt;!channel&gt; &amp; over")
    assert.include(text, "until 2026-11-30 14:00 UTC")
    assert.include(text, `https://x.test/inbox/${ITEM}`)
    const values = [...text.matchAll(/"action_id":"(\w+)"/g)].map(([, act]) => act)
    assert.deepStrictEqual(values, ["approve", "reject", "abstain"])
    const [, actions] = blocks as ReadonlyArray<{ elements?: ReadonlyArray<{ value: string; confirm?: object }> }>
    const [approve] = actions?.elements ?? []
    assert.isDefined(approve?.confirm)
    assert.deepStrictEqual(Option.getOrThrow(readButton(approve?.value)), {
      v: 1,
      item: ITEM,
      act: "approve",
      proposalHash: HASH,
      basis: question.basis
    })
  })

  it("have the link alone where a press is not enough", () => {
    const { blocks } = questionMessage({ ...question, takesPresses: false }, "https://x.test")
    assert.lengthOf(blocks, 1)
    assert.include(JSON.stringify(blocks), "this question takes no press")
  })

  it("have a sentence for every state, which names no act, and no silence as a refusal", () => {
    const sentences = ItemState.literals.flatMap((state) =>
      ["ana", undefined].map((by) => endSentence({ state, by, reason: "because" }))
    )
    for (const sentence of sentences) {
      assert.match(sentence, /^[A-Z].*\.$/)
      assert.notMatch(sentence, /approve|reject|abstain/i)
    }
    assert.include(endSentence({ state: "accepted", by: undefined, reason: undefined }), "No answer came")
    assert.include(endSentence({ state: "expired", by: undefined, reason: undefined }), "no answer came")
    assert.notInclude(endSentence({ state: "expired", by: undefined, reason: undefined }), "refus")
    const closed = ItemState.literals.filter((state) => state !== "open" && state !== "waiting")
    assert.strictEqual(new Set(closed.map((state) => endSentence({ state, by: "ana", reason: undefined }))).size, 8)
    const end = endMessage(
      { ...question, state: "stale", reason: undefined, by: undefined, newItem: "n" },
      "https://x.test"
    )
    assert.include(JSON.stringify(end), "https://x.test/inbox/n")
    assert.notInclude(JSON.stringify(end), '"actions"')
  })
})
