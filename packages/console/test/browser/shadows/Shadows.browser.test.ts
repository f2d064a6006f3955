import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { SHADOW_NOTE } from "@runplane/domain"
import { looksRight } from "../Looks.ts"
import { type Recorded, recordedEvents } from "../Served.ts"
import { ask, CONTROL_PLANE, completedExample, go, openPage, PATIENCE_MS, startStack, tearDown } from "../Stage.ts"

const MARKUP = `<b id="made">bold</b><script>document.title = "made"</script>`
const HOSTILE = `\u202eעברית ${MARKUP} ${"long ".repeat(500)}`
const SHADOW_AGENTS = ["new-agent", MARKUP]

let runId = ""
let vote: Recorded | undefined

/** The acts of a shadow that votes the other way, with hostile texts. */
const actsOf = (agent: string) => {
  const as = String(vote?.data["sender"])
  const { proposalId, vote: cast } = Object(vote?.data["decodedPayload"])
  const seen = (messageId: string) => ({ messageId, at: "2026-11-30T10:00:00.000Z", shown: 2 })
  const evaluation = { proposalId, recommendation: "BLOCK", confidence: 0.4, reason: "earlier" }
  const payload = { proposalId, vote: cast === "APPROVE" ? "REJECT" : "APPROVE", reason: HOSTILE }
  return {
    ...{ v: 1, shadow: `${as}~${agent}`, as, agent, mode: "macp.mode.decision.v1", status: "acted" },
    acts: [
      { messageType: "Evaluation", ...seen("x1"), payload: evaluation },
      { messageType: "Vote", ...seen("x2"), payload }
    ],
    refused: [{ messageType: "Vote", ...seen("x3"), code: "SESSION_NOT_OPEN", reason: "it has ended" }],
    ...{ leftOut: 0, usage: [{ model: "m", calls: 1, promptTokens: 900, completionTokens: 110, totalTokens: 1_010 }] },
    note: SHADOW_NOTE
  }
}

beforeAll(async () => {
  await startStack()
  runId = await completedExample()
  vote = (await recordedEvents(runId)).find(
    ({ data, type }) => type === "proposal.updated" && data["messageType"] === "Vote"
  )
  assert.isDefined(vote)
  const failed = { ...actsOf("third"), status: "failed", reason: HOSTILE, acts: [], usage: [] }
  for (const inline of [...SHADOW_AGENTS.map(actsOf), failed]) {
    const body = { kind: "shadow.acts", label: inline.shadow, inline, idempotencyKey: `shadow.acts/${inline.shadow}` }
    const added = await ask("POST", `${CONTROL_PLANE}/runs/${runId}/artifacts`, body)
    assert.strictEqual(added.status, 201, added.text)
  }
}, 4 * PATIENCE_MS)
afterAll(tearDown)

// docs/reference/shadows.md
describe("the shadows of a run", () => {
  it(
    "are beside their participants, apart from the outcome, with their texts as text",
    async () => {
      const { context, misdeeds, page } = await openPage({ width: 1280 })
      await go(page, `/runs/${runId}?view=decision`)
      const section = page.getByRole("region", { name: "Shadows", exact: true })
      await section.getByText("no part of the session or its outcome").waitFor()
      const first = section.locator("[data-shadow]").first()
      await first.getByText("another vote", { exact: true }).waitFor()
      await first.getByText("1,010 tokens, of no known cost; 1 message refused by the rules").waitFor()
      await section.getByText("failed", { exact: true }).waitFor()
      await section.getByText("no act on it").first().waitFor()
      assert.strictEqual(await section.locator("[data-shadow]").count(), 3)
      // A vote counts more than the evaluation before it.
      assert.strictEqual(await section.getByText("earlier").count(), 0)
      await first.getByText(MARKUP, { exact: false }).waitFor()
      assert.strictEqual(await page.locator("#made").count(), 0)
      assert.notStrictEqual(await page.title(), "made")
      // Votes and outcome have the participants alone.
      for (const name of ["Votes", "Decision card"]) {
        assert.strictEqual(await page.getByRole("region", { name, exact: true }).getByText("new-agent").count(), 0)
      }
      await section.scrollIntoViewIfNeeded()
      await looksRight(page, "shadows", [1280, 390])
      assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
      await context.close()
    },
    4 * PATIENCE_MS
  )
})
