import { assert, describe, it } from "@effect/vitest"
import { recordSubject, type Why, why, whyHtml, whyMarkdown } from "@runplane/domain"
import * as Base64 from "effect/encoding/Base64"
import { commits, type Drafts, governed, opened, proposes, says, votes } from "../support/deliberations.ts"
import { derived } from "../support/events.ts"

const whyOf = (...drafts: Drafts): Why => {
  const { by, run } = governed(...drafts)
  return why(run, by)
}

const four = { rules: { voting: { algorithm: "majority" } }, participants: ["a", "b", "c", "d"] }

describe("the printed decision record", () => {
  const hostile = `<script>alert("1")</script> [x](javascript:1)\n# heading`
  const explained = whyOf(opened(four), says("a", "Proposal", { option: hostile }, `p<1>`), [
    derived("decision.finalized", "Commitment", "<b>lead</b>", { action: "decision.selected", reason: hostile })
  ])

  it("is one page in which nothing that was said can become markup", () => {
    const page = whyHtml(explained)
    assert.notMatch(page, /<script|<b>|\bon\w+=/i)
    assert.include(page, "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;")
    assert.strictEqual(page.match(/<html/g)?.length, 1)
  })

  it("is Markdown in which nothing that was said can become markup", () => {
    const text = whyMarkdown(explained)
    assert.notMatch(text, /<|[^\\]\]\(|^# heading/m)
    assert.include(text, "\\[x\\](javascript:1)")
    assert.match(text, /^# Approved: decision\.selected$/m)
  })

  it.each([
    ["**loud** _soft_ a_b ~~gone~~ `code`", "\\*\\*loud\\*\\* \\_soft\\_ a_b \\~\\~gone\\~\\~ \\`code\\`"],
    ["see https://example.org, www.example.org, a@b.c", "see https\\://example.org, www\\.example.org, a\\@b.c"],
    ["# big", "\\# big"],
    ["1. first", "1\\. first"],
    ["12) twelfth", "12\\) twelfth"],
    ["---", "\\---"],
    ["=== a", "\\=== a"],
    ["2 of 3; at 0.5 (majority): go!", "2 of 3; at 0.5 (majority): go!"],
    ["![x](y) &lt;b&gt; \\", "!\\[x\\](y) &amp;lt;b&amp;gt; \\\\"]
  ])("writes %s so that it reads as it was said", (said, written) => {
    const summary = { ...explained, summary: said }
    assert.strictEqual(whyMarkdown(summary).split("\n")[2], written)
  })

  it("names what the run was about, and cites events by their index in it", () => {
    const context = Base64.encode(JSON.stringify({ region: "north-2", lagSeconds: 95, [hostile]: hostile }))
    const { by, run } = governed(
      opened(four),
      derived("signal.emitted", "Signal", "a", { signalType: "session.context", data: context }),
      proposes("a"),
      votes("a", "APPROVE"),
      commits(true)
    )
    const asked = { ...run, intent: "fail over?" }
    const answer = why(asked, by)
    const subject = {
      ...recordSubject(asked, answer),
      scenario: "incident/region-failover@1.0.0",
      printedAt: "2026-07-01T10:00:00.000Z",
      printedBy: "key:12345678"
    }
    const text = whyMarkdown(answer, subject)
    const [vote] = run.acts.filter(({ type }) => type === "Vote")
    assert.notStrictEqual(vote?.index, vote?.seq)
    assert.include(text, `a voted APPROVE on ${vote?.proposalId} \\[event ${vote?.index}\\]`)
    assert.notMatch(text, /\bseq\b/)
    for (const line of [
      "- scenario incident/region-failover\\@1.0.0",
      "- question: fail over?",
      "- region: north-2",
      "- lagSeconds: 95",
      "- printed at 2026-07-01T10:00:00.000Z (UTC) for key:12345678"
    ]) {
      assert.include(text, line)
    }
    assert.notMatch(whyHtml(answer, subject), /<script|<b>/)
  })

  it("bounds what it quotes and how much it lists", () => {
    const talk = Array.from({ length: 700 }, (_, at) =>
      says("a", "Evaluation", { recommendation: "x".repeat(9_000) }, `p${at % 2}`)
    )
    const long = whyOf(opened(four), proposes("a", "p0"), proposes("b", "p1"), talk)
    assert.strictEqual(long.claims.length, 500)
    assert.isBelow(whyHtml(long).length, 400_000)
    assert.match(long.notes.join(), /202 earlier claims are left out/)
  })
})
