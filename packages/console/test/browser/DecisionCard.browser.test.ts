import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { looksRight } from "./Looks.ts"
import { type Recorded, recordedEvents, serveRun } from "./Served.ts"
import {
  ask,
  CONTROL_PLANE,
  completedExample,
  go,
  openPage,
  PATIENCE_MS,
  picture,
  startStackWith,
  tearDown,
  violationsOf
} from "./Stage.ts"

const BEGIN_MS = Date.now() - 60_000
const VOTERS = ["ana", "bea", "cem"]

const attributesOf = (values: Readonly<Record<string, string | boolean>>) =>
  Object.entries(values).map(([key, value]) => ({
    key,
    value: typeof value === "boolean" ? { boolValue: value } : { stringValue: value }
  }))

let events = 0
const said = (name: string, attributes: Readonly<Record<string, string | boolean>>) => ({
  timeUnixNano: `${BEGIN_MS + 10 * events++}000000`,
  name,
  attributes: attributesOf(attributes)
})
const votes = (id: string, vote: string) =>
  VOTERS.map((participant) => said("runplane.vote", { "proposal.id": id, participant, vote }))

/** A session in which three voters reject "go" and approve "hold", and the coordinator commits "go". */
const SPAN = {
  traceId: "cd".repeat(16),
  spanId: "1".padStart(16, "0"),
  name: "invoke_agent coordinator",
  kind: 1,
  startTimeUnixNano: `${BEGIN_MS}000000`,
  endTimeUnixNano: `${BEGIN_MS + 2_000}000000`,
  attributes: attributesOf({ "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "coordinator" }),
  events: [
    said("runplane.proposal", { "proposal.id": "p1", participant: "ana", option: "go" }),
    said("runplane.proposal", { "proposal.id": "p2", participant: "bea", option: "hold" }),
    ...votes("p1", "REJECT"),
    ...votes("p2", "APPROVE"),
    said("runplane.decision", { action: "go", positive: true, participant: "coordinator" })
  ],
  status: {}
}

const MARKUP = `<b id="made">bold</b><script>document.title = "made"</script>`
const HOSTILE = `\u202eעברית ${MARKUP} ${"long ".repeat(2_000)}`
const NAMES = [`\u202e${MARKUP}`, "אבג-דהו", "x".repeat(300)]

/** A session whose every text is hostile. */
const HOSTILE_SPAN = {
  ...SPAN,
  traceId: "ef".repeat(16),
  spanId: "2".padStart(16, "0"),
  attributes: attributesOf({ "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "hostile" }),
  events: [
    said("runplane.proposal", { "proposal.id": HOSTILE.slice(0, 400), participant: NAMES[0] ?? "", option: HOSTILE }),
    ...NAMES.map((participant) =>
      said("runplane.vote", { "proposal.id": HOSTILE.slice(0, 400), participant, vote: "APPROVE", reason: HOSTILE })
    ),
    said("runplane.decision", { action: HOSTILE, positive: true, participant: NAMES[1] ?? "", reason: HOSTILE })
  ]
}

/** A check that finds the receipt intact, and another decision in it. */
const REFUTED = {
  verified: false,
  disagreements: ["action", "commitment_hash"],
  reason: "it disagrees with the log in action, commitment_hash"
}

let runId = ""
let hostileId = ""

beforeAll(async () => {
  await startStackWith({ OTLP_SETTLE_MS: "300" })
  const resource = { attributes: attributesOf({ "service.name": "committee" }) }
  const spans = [SPAN, HOSTILE_SPAN]
  const body = { resourceSpans: [{ resource, scopeSpans: [{ scope: { name: "test" }, spans }] }] }
  const sent = await ask("POST", `${CONTROL_PLANE}/v1/traces`, body)
  assert.strictEqual(sent.status, 200, sent.text)
  for (let left = 100; left > 0 && (runId === "" || hostileId === ""); left--) {
    const idOf = async (vote: string): Promise<string> => {
      const { body: runs } = await ask(
        "GET",
        `${CONTROL_PLANE}/runs?q=${encodeURIComponent(`status:completed ${vote}`)}`
      )
      return runs.data.at(0)?.id ?? ""
    }
    runId = await idOf("vote.ana:REJECT")
    hostileId = await idOf(`-vote.ana:REJECT`)
    if (runId === "" || hostileId === "") await new Promise((resolve) => setTimeout(resolve, 200))
  }
}, 4 * PATIENCE_MS)
afterAll(tearDown)

// docs/reference/decisions.md#card
describe("the card of a decision", () => {
  it("warns of a commitment that its voters rejected, with a ring for each proposal", async () => {
    const { context, misdeeds, page } = await openPage({ width: 1440 })
    const why = (await ask("GET", `${CONTROL_PLANE}/runs/${runId}/decision/why`)).body
    assert.deepInclude(why.outcome, { action: "go", positive: true, proposalId: "p1", againstVotes: true })
    await go(page, `/runs/${runId}`)
    const card = page.getByRole("region", { name: "Decision card" })
    await card.getByText("The voters rejected go (0 approve, 3 reject), and it was committed").waitFor()
    await card.locator("[data-ring=p1]").getByText("Approved", { exact: true }).waitFor()
    await card.locator("[data-ring=p1]").getByText("0 for, 3 against").waitFor()
    assert.strictEqual(await card.locator("[data-ring=p1] [data-vote=against]").count(), VOTERS.length)
    assert.strictEqual(await card.locator("[data-ring=p2] [data-vote=for]").count(), VOTERS.length)
    // No share of approving words is shown as a confidence.
    assert.notMatch((await page.locator("body").textContent()) ?? "", /\d+ % confidence|confidence of/)
    await page.getByText("on go", { exact: true }).first().waitFor()
    assert.strictEqual(await page.getByText("on hold", { exact: true }).count(), VOTERS.length)
    await picture(page, "card-against-votes-1440-light")
    assert.deepStrictEqual(await violationsOf(page), [])
    assert.lengthOf(misdeeds.errors, 0)
    await context.close()
  })

  it(
    "shows names, intents and reasons of any length and direction as text",
    async () => {
      const { context, misdeeds, page } = await openPage({ width: 1280 })
      await go(page, `/runs/${hostileId}`)
      const card = page.getByRole("region", { name: "Decision card" })
      await card.getByText("3 for, 0 against").first().waitFor()
      assert.strictEqual(await page.locator("#made").count(), 0)
      assert.notStrictEqual(await page.title(), "made")
      assert.strictEqual(await card.locator("[data-vote=for]").count(), NAMES.length)
      await card.getByText("Voters and their votes").click()
      await looksRight(page, "card-hostile", [1280, 390])
      assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
      await context.close()
    },
    4 * PATIENCE_MS
  )

  it("greys the ring of an open run when an approval is out of reach", async () => {
    const inputs = { replicationLagSeconds: 95, standby: { region: "north-2", warm: false } }
    const decided = await completedExample({ scenarioRef: "incident/region-failover@1.1.0", inputs })
    const events = await recordedEvents(decided)
    const before = events.slice(
      0,
      events.findIndex(({ data }) => data["messageType"] === "Commitment")
    )
    const { context, page } = await openPage({ width: 1440 })
    await serveRun(page, decided, before, { status: "running" })
    await go(page, `/runs/${decided}`)
    const card = page.getByRole("region", { name: "Decision card" })
    await card.getByText(/an approval.* is now out of reach: /i).waitFor()
    await card.getByText("Open", { exact: true }).waitFor()
    assert.match((await card.locator("svg[data-ring]").first().getAttribute("class")) ?? "", /grayscale/)
    // A live run is shown at its end, with the decision in one line above it.
    const pinned = page.locator("[data-pinned]")
    await pinned.getByText("Open", { exact: true }).waitFor()
    await picture(page, "card-pinned-1440-light")
    await pinned.click()
    await pinned.waitFor({ state: "detached" })
    await picture(page, "card-out-of-reach-1440-light")
    assert.deepStrictEqual(await violationsOf(page), [])
    await context.close()
  })

  it("names a receipt that disagrees with the log, in the card and in the narrative", async () => {
    const decided = await completedExample()
    const isReceipt = ({ data }: Recorded) => data["receipt"] !== undefined
    // The service reads it after the end of the run.
    let recorded = await recordedEvents(decided)
    for (let left = 100; left > 0 && !recorded.some(isReceipt); left--) {
      await new Promise((resolve) => setTimeout(resolve, 200))
      recorded = await recordedEvents(decided)
    }
    const events = recorded.map((event) =>
      isReceipt(event)
        ? { ...event, data: { ...event.data, receipt: { ...Object(event.data["receipt"]), ...REFUTED } } }
        : event
    )
    const { context, page } = await openPage({ width: 1440 })
    await serveRun(page, decided, events)
    await go(page, `/runs/${decided}`)
    const proof = page.getByRole("region", { name: "Decision card" }).locator("[data-receipt=unverified]")
    await proof.getByText("it disagrees with the log in action, commitment_hash").waitFor()
    await page
      .getByRole("region", { name: "Messages" })
      .getByText(/has a receipt that disagrees with the log/)
      .waitFor()
    await looksRight(page, "card-refuted", [1440, 390])
    await context.close()
  })

  it(
    "tries another vote by a press and by keys, as the service answers",
    async () => {
      const decided = await completedExample()
      const get = async (path: string) => (await ask("GET", `${CONTROL_PLANE}/runs/${decided}${path}`)).body
      const { context, misdeeds, page } = await openPage({ width: 1440 })
      await go(page, `/runs/${decided}`)
      const { rings, word } = await get("/decision/card")
      const [{ proposalId, seats: voters }] = rings
      const [{ participantId }] = voters
      const card = page.getByRole("region", { name: "Decision card" })
      await card.getByText(word, { exact: true }).waitFor()
      const voter = card.getByRole("button", { name: new RegExp(`^${participantId} voted for it.*try another vote`) })
      await voter.click()
      const votes = [{ participantId, proposalId, vote: "REJECT" }]
      const { body: answer } = await ask("POST", `${CONTROL_PLANE}/runs/${decided}/what-if`, { votes })
      const says = card.locator("[data-what-if]")
      await says.getByText(`What if ${participantId} had rejected?`).waitFor()
      await card.getByText(answer.after.allowed ? "Would stand" : "Would not stand", { exact: true }).waitFor()
      await card.getByRole("button", { name: new RegExp(`^${participantId} voted against it.*changed`) }).waitFor()
      assert.include(page.url(), "votes=")
      await says.getByText("The run itself is unchanged.").waitFor()
      await says.getByRole("button", { name: "Back to the recorded votes" }).press("Enter")
      await says.waitFor({ state: "detached" })
      await card.getByText(word, { exact: true }).waitFor()
      await voter.press("Enter")
      await says.waitFor()
      // The last press counts, whatever the answers before it say.
      for (let presses = 0; presses < 5; presses++) await page.keyboard.press(" ")
      await says.waitFor({ state: "detached" })
      assert.deepStrictEqual((await get("/decision/card")).word, word)
      await looksRight(page, "card", [1440, 1280, 390])
      assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
      await context.close()
    },
    4 * PATIENCE_MS
  )
})
