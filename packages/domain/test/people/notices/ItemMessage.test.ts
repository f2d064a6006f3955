import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { chatBody, questionMessage, type ShownQuestion } from "../../../src/people/index.ts"

const question: ShownQuestion = {
  event: "opened",
  seat: "risk-officer",
  scenario: "payments/limit@1.0.0",
  state: "open",
  unanswered: false,
  hash: "1a2b3c4d",
  deadline: "2026-11-30T14:04:00.000Z"
}
const LINK = "https://launch.example.org/inbox/i1"

const Slack = Schema.decodeUnknownSync(
  Schema.Struct({ text: Schema.String, blocks: Schema.Array(Schema.Struct({ type: Schema.String })) })
)

describe("messages about questions", () => {
  it("given an open question, names seat, scenario, deadline, the first signs of the hash, and the link", () => {
    const slack = JSON.stringify(chatBody("slack", questionMessage(question, LINK)))
    const teams = JSON.stringify(chatBody("teams", questionMessage(question, LINK)))
    const texts = ["Question for risk-officer", "payments/limit@1.0.0", "2026-11-30 14:04 UTC", "1a2b3c4d", LINK]
    for (const text of texts) {
      assert.include(slack, text)
      assert.include(teams, text)
    }
  })

  it("given no deadline, says none; given no link, has none", () => {
    const { deadline: _, ...open } = question
    const { facts, link } = questionMessage(open, undefined)
    assert.deepInclude(facts, { name: "Deadline", text: "none" })
    assert.isUndefined(link)
  })

  it.each([
    ["reminded", "Reminder: question for risk-officer", "Warning"],
    ["escalated", "Escalated: question for risk-officer", "Warning"],
    ["undelivered", "No person was notified: question for risk-officer", "Attention"],
    ["closed", "Closed: question for risk-officer", "Good"],
    ["another", "another: question for risk-officer", "Accent"]
  ] as const)("given the event %s, has its title", (event, title, color) => {
    assert.deepInclude(questionMessage({ ...question, event }, LINK), { title, color })
  })

  it("given a question that closed without an answer, names no person", () => {
    const closed = { ...question, event: "closed", state: "expired", unanswered: true }
    const { color, facts } = questionMessage(closed, LINK)
    assert.deepInclude(facts, { name: "State", text: "expired" })
    assert.deepInclude(facts, { name: "Answered by", text: "no person" })
    assert.strictEqual(color, "Warning")
    const answered = questionMessage({ ...closed, state: "accepted", unanswered: false, person: "ana" }, LINK)
    assert.deepInclude(answered.facts, { name: "Answered by", text: "ana" })
  })

  it("given names that are markup, neither mentions nor links", () => {
    const message = questionMessage({ ...question, seat: "<!channel> <https://evil.example|x> & co" }, LINK)
    const { text } = Slack(chatBody("slack", message))
    assert.strictEqual(text, "Question for &lt;!channel&gt; &lt;https://evil.example|x&gt; &amp; co")
    const teams = JSON.stringify(chatBody("teams", questionMessage({ ...question, seat: "[x](https://e.org)" }, LINK)))
    assert.notInclude(teams, '"TextBlock"', "a TextBlock reads Markdown")
    assert.include(teams, '"type":"TextRun","text":"Question for [x](https://e.org)"')
  })

  it("given a link that is not http, leaves it out", () => {
    assert.isUndefined(questionMessage(question, "javascript:alert(1)").link)
  })

  const text = Arbitrary.schema(Schema.String.check(Schema.isMaxLength(600)))
  it.prop(
    "given any texts, is bounded, with one line a text, and without a bracket of Slack",
    { seat: text, scenario: text, deadline: text, person: text },
    (texts) => {
      const message = questionMessage({ ...question, ...texts, event: "closed" }, undefined)
      for (const shown of [message.title, ...message.facts.map((fact) => fact.text)]) {
        assert.isAtMost(shown.length, 300)
        assert.notMatch(shown, /[\n\r\u2028\u2029]/)
        assert.isTrue(shown.isWellFormed())
      }
      const slack = JSON.stringify(chatBody("slack", message))
      assert.isBelow(Buffer.byteLength(slack), 20_000)
      assert.notMatch(slack, /[<>]/)
      assert.isBelow(Buffer.byteLength(JSON.stringify(chatBody("teams", message))), 20_000)
    },
    { arbitrary: { runs: 300 } }
  )
})
