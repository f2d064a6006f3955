import { assert, describe, it } from "@effect/vitest"
import { type ReasonedCard, reasonedCard, recordSubject, whyHtml, whyMarkdown } from "@runplane/domain"
import * as Base64 from "effect/encoding/Base64"
import { commits, type Drafts, governed, opened, proposes, says, votes } from "../support/deliberations.ts"
import { derived } from "../support/events.ts"

const recordOf = (...drafts: Drafts): ReasonedCard => {
  const { by, run } = governed(...drafts)
  return reasonedCard(run, by)
}

const four = { rules: { voting: { algorithm: "majority" } }, participants: ["a", "b", "c", "d"] }

describe("the printed decision record", () => {
  const hostile = `<script>alert("1")</script> [x](javascript:1)\n# heading`
  const explained = recordOf(opened(four), says("a", "Proposal", { option: hostile }, `p<1>`), [
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
    const summary = { ...explained, why: { ...explained.why, summary: said } }
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
    const answer = reasonedCard(asked, by)
    const subject = {
      ...recordSubject(asked, answer.why),
      scenario: "incident/region-failover@1.0.0",
      printed: { at: "2026-07-01T10:00:00.000Z", by: "key:12345678" }
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

  it("begins with the question, the verdict and its picture", () => {
    const { by, run } = governed(
      opened(four),
      proposes("a"),
      votes("a", "APPROVE"),
      votes("b", "APPROVE"),
      votes("<b>c", "REJECT"),
      says("d", "Objection", { severity: "high" }),
      commits(true)
    )
    const record = reasonedCard({ ...run, intent: `fail over? ${hostile}` }, by)
    const page = whyHtml(record)
    const [question, verdict, picture] = ["<h1", 'class="verdict"', "<svg"].map((part) => page.indexOf(part))
    assert.isBelow(0, question ?? 0)
    assert.isBelow(question ?? 0, verdict ?? 0)
    assert.isBelow(verdict ?? 0, picture ?? 0)
    assert.match(page, /<h1 dir="auto">fail over\? &lt;script&gt;/)
    assert.include(page, '<p class="verdict">Approved: decision.selected</p>')
    assert.strictEqual(page.match(/<title>[^<]+ voted for it/g)?.length, 2)
    assert.include(page, "<title>d has not voted with an objection</title>")
    assert.notMatch(page, /<script|<b>|\bstyle=|href|url\(|@import/i)
    for (const line of ["- a voted for it", "- d has not voted with an objection"]) {
      assert.include(whyMarkdown(record), line)
    }
  })

  it("has a picture for each proposal", () => {
    const page = whyHtml(
      recordOf(opened(four), proposes("a", `<b>1`), proposes("b", "p2"), votes("a", "APPROVE", "p2"))
    )
    assert.strictEqual(page.match(/<svg /g)?.length, 2)
    assert.strictEqual(page.match(/<figcaption>/g)?.length, 2)
    assert.notInclude(page, "<b>")
  })

  it("draws hundreds of voters as dots, and more as a bar", () => {
    for (const [count, shape] of [
      [60, "<circle "],
      [500, "<title>500 none</title>"]
    ] as const) {
      const participants = Array.from({ length: count }, (_, at) => `agent-${at}`)
      const page = whyHtml(recordOf(opened({ ...four, participants }), proposes("agent-1")))
      assert.include(page, shape)
      assert.isBelow(page.length, 60_000)
    }
  })

  it("bounds what it quotes and how much it lists", () => {
    const talk = Array.from({ length: 700 }, (_, at) =>
      says("a", "Evaluation", { recommendation: "x".repeat(9_000) }, `p${at % 2}`)
    )
    const long = recordOf(opened(four), proposes("a", "p0"), proposes("b", "p1"), talk)
    assert.strictEqual(long.why.claims.length, 500)
    assert.isBelow(whyHtml(long).length, 400_000)
    assert.match(long.why.notes.join(), /202 earlier claims are left out/)
  })
})
