import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import type { Page } from "playwright-core"
import { independences, named, worths } from "../view/committee/CommitteeAnswers.ts"
import { looksRight } from "./Looks.ts"
import {
  ask,
  CONTROL_PLANE,
  completedExample,
  go,
  LAUNCHER,
  openPage,
  PATIENCE_MS,
  picture,
  startStack,
  tearDown,
  violationsOf
} from "./Stage.ts"

const SCENARIO = "incident/region-failover@1.1.0"
let approved = ""
let declined = ""

const get = async (path: string) => (await ask("GET", `${CONTROL_PLANE}${path}`)).body

const launched = async (inputs: object): Promise<string> => {
  const body = { scenarioRef: SCENARIO, mode: "sandbox", bootstrapAgents: true, inputs }
  return (await ask("POST", `${LAUNCHER}/examples/run`, body)).body.controlPlaneRun.runId
}

const verdictOf = async (runId: string): Promise<string | undefined> => {
  const { data } = await get(`/runs?include=decision&q=id:${runId}`)
  return data[0]?.decision?.verdict
}

const decides = (runId: string, verdict: string) =>
  Effect.runPromise(
    until(
      Effect.promise(() => verdictOf(runId)),
      (found) => found === verdict
    )
  )

beforeAll(async () => {
  await startStack()
  await completedExample()
  approved = await launched({})
  declined = await launched({ replicationLagSeconds: 95, standby: { region: "north-2", warm: false } })
  await decides(approved, "for")
  await decides(declined, "against")
}, 4 * PATIENCE_MS)
afterAll(tearDown)

/** Answers reads of the week before as if the runs of these cases had been approved in it. */
const approvedBefore = (page: Page) =>
  page.route(/\/runs\?.*case%3A/, async (route) => {
    const { data, ...rest } = await get(`/runs?include=decision&q=id:${approved}`)
    const at = new Date(Date.now() - 3 * 86_400_000).toISOString()
    return route.fulfill({ json: { ...rest, data: [{ ...data[0], createdAt: at, endedAt: at }] } })
  })

const sentence = (page: Page) => page.getByRole("region", { name: "Needs attention" }).locator("h2")

describe("the overview", () => {
  it("shows what was decided, each decision as a link, and the case that came out otherwise than before", async () => {
    const { context, misdeeds, page } = await openPage()
    await approvedBefore(page)
    await go(page, "/overview")
    const row = page.getByRole("list", { name: `Decisions of ${SCENARIO}` })
    await row.locator("[data-decided]").nth(1).waitFor()
    assert.deepStrictEqual(
      await row.locator("[data-decided]").evaluateAll((all) => all.map((one) => one.getAttribute("data-decided"))),
      ["for", "against"]
    )
    const { data } = await get(`/runs?include=decision&q=id:${declined}`)
    const { counts, question } = data[0].decision
    await row.getByRole("link", { name: `${question}: Declined, other than in the week before (${counts})` }).waitFor()
    const flip = page.locator("[data-decision-flip]")
    await flip.getByText("in the week before").waitFor()
    assert.match((await flip.textContent()) ?? "", /: Declined in 1 of 3; in the week before Approved, last on/)
    assert.deepStrictEqual(await violationsOf(page), [])
    await looksRight(page, "overview-decided", [1440, 1280, 720, 390])
    await page.setViewportSize({ width: 1280, height: 800 })
    await flip.getByRole("link", { name: "Compare" }).click()
    await page.waitForURL(new RegExp(`left=${approved}&right=${declined}`))
    assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
    await context.close()
  })

  it("says nothing of flips without a repeat", async () => {
    const { context, page } = await openPage()
    await go(page, "/overview")
    await page.locator("[data-decided]").first().waitFor()
    assert.strictEqual(await page.locator("[data-decision-flip]").count(), 0)
    await context.close()
  })

  it("is green only when every check could be read, and says first what is wrong, on a phone too", async () => {
    const { context, page } = await openPage()
    await page.setViewportSize({ width: 390, height: 844 })
    await go(page, "/overview")
    await sentence(page).getByText("All is well").waitFor()
    assert.match((await sentence(page).textContent()) ?? "", /^All is well, checked (just now|\d+ (s|min) ago)$/)
    await page.route(/\/alerts\?.*status=open/, (route) =>
      route.fulfill({ status: 500, json: { statusCode: 500, errorCode: "INTERNAL_ERROR", message: "no" } })
    )
    await page.reload()
    await sentence(page).getByText("Not everything could be read: alerts").waitFor()
    assert.strictEqual(await page.locator("[data-attention]").getAttribute("data-attention"), "warn")
    await page.unroute(/\/alerts\?.*status=open/)
    await page.route(/\/dashboard\/overview/, async (route) => {
      const response = await route.fetch()
      const json = await response.json()
      return route.fulfill({ response, json: { ...json, kpis: { ...json.kpis, failedRuns: 3 } } })
    })
    await page.reload()
    await sentence(page).getByText("1 thing needs you").waitFor()
    const box = await page.locator("[data-concern=failed]").boundingBox()
    assert.isBelow(box?.y ?? Number.POSITIVE_INFINITY, 300)
    await picture(page, "overview-attention-390")
    assert.deepStrictEqual(await violationsOf(page), [])
    await context.close()
  })

  it("sorts the scenarios by any column, ends with the others, and leads from each number to its runs", async () => {
    const { context, misdeeds, page } = await openPage()
    await page.route(/\/dashboard\/overview/, async (route) => {
      const response = await route.fetch()
      const json = await response.json()
      const [first] = json.scenarios
      const otherScenarios = { ...first, count: 12, runs: 70, costUsd: 9 }
      delete otherScenarios.scenario
      return route.fulfill({ response, json: { ...json, otherScenarios } })
    })
    await go(page, "/overview?models=true")
    const table = page.getByRole("region", { name: "Scenarios", exact: true }).getByRole("table")
    await table.getByText("others (12)").waitFor()
    const { scenarios } = await get("/dashboard/overview?window=24h")
    await table.getByRole("button", { name: "Cost" }).click()
    await table.locator("th[aria-sort=descending]", { hasText: "Cost" }).waitFor()
    const names = await table.locator("tbody tr td:first-child").allTextContents()
    const byCost = scenarios
      .toSorted((one: { costUsd: number }, other: { costUsd: number }) => other.costUsd - one.costUsd)
      .map(({ scenario }: { scenario: string }) => scenario)
    assert.deepStrictEqual(names, [...byCost, "others (12)"])
    const models = page.getByRole("region", { name: "Cost by model" }).getByRole("table")
    await models.locator("tbody tr").first().getByRole("link").last().click()
    await page.waitForURL(/q=model/)
    await page.locator("[data-row='0']").waitFor()
    await page.goBack()
    await table.locator("tbody tr", { hasText: SCENARIO }).getByRole("cell").nth(5).getByRole("link").click()
    await page.waitForURL(/outcome%3Anegative/)
    await page.getByText("1 run").first().waitFor()
    // The overview may be read once more while the page closes.
    await page.unrouteAll({ behavior: "wait" })
    assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
    await context.close()
  })
})

describe("pages that overview leads to", () => {
  it("show what each participant did as the API counts it", async () => {
    const { context, page } = await openPage()
    const agents = await get("/dashboard/agents/metrics")
    const [first] = agents
    await go(page, "/agents")
    await page.getByText(`${agents.length} participants`).waitFor()
    const row = page.getByRole("row").filter({ hasText: first.participantId }).first()
    const titles = await page.getByRole("columnheader").allTextContents()
    const cell = (title: string) => row.getByRole("cell").nth(titles.indexOf(title))
    assert.strictEqual(await cell("Runs").textContent(), String(first.runs))
    assert.strictEqual(await cell("Messages").textContent(), String(first.messages))
    const { data } = await get("/agents/records")
    const { runs, withOutcome } = data.find(
      (one: { participantId: string }) => one.participantId === first.participantId
    )
    await cell("With the outcome")
      .getByText(`${Math.round((100 * withOutcome) / runs)} % of ${runs}`)
      .waitFor()
    // The title of a column sorts, first by the most.
    const names = page.locator("tbody tr td:first-child")
    await page.getByRole("columnheader", { name: "Participant" }).getByRole("button").click()
    await page.locator("th[aria-sort=ascending]", { hasText: "Participant" }).waitFor()
    const sorted = await names.allTextContents()
    assert.deepStrictEqual(
      sorted,
      sorted.toSorted((one, other) => one.localeCompare(other, "en"))
    )
    await row.getByRole("button").click()
    await page.getByText("for the outcome").waitFor()
    await go(page, "/agents")
    await cell("With the outcome").getByRole("link").click()
    await page.waitForURL(/-dissent/)
    await page.getByText(`${withOutcome} run`).first().waitFor()
    await context.close()
  })

  it("show what two runs were given, with the verdict of both", async () => {
    const { context, misdeeds, page } = await openPage()
    await go(page, `/compare?left=${approved}&right=${declined}`)
    await page.locator("[data-cause=inputs]").getByText("replicationLagSeconds").waitFor()
    assert.match(
      (await page.locator("[data-cause=inputs]").textContent()) ?? "",
      /standby\.warm: true left, false right/
    )
    await page
      .locator("[data-cause=policy]")
      .getByText(/^the same: policy\.incident/)
      .waitFor()
    await page.locator("[data-cause=models]").getByText("the same for each participant").waitFor()
    await page.locator("[data-side-verdict=for]").getByText("Approved").waitFor()
    await page.locator("[data-side-verdict=against]").getByText("Declined").waitFor()
    await looksRight(page, "compare-given")
    assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
    await context.close()
  })

  it("show the stability of each scenario apart, and that of one with its outcomes", async () => {
    const { context, misdeeds, page } = await openPage()
    await go(page, "/stability")
    const table = page.getByRole("table")
    await table.getByRole("link", { name: SCENARIO }).waitFor()
    assert.strictEqual(await page.getByRole("heading", { name: "Outcomes" }).count(), 0)
    await looksRight(page, "stability-scenarios")
    await page.setViewportSize({ width: 1280, height: 800 })
    await table.getByRole("link", { name: SCENARIO }).click()
    await page.waitForURL(/q=scenario/)
    await page.getByRole("heading", { name: "Outcomes" }).waitFor()
    await page.locator("[data-outcome]", { hasText: "1 of 2 runs, 50 %" }).first().waitFor()
    assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
    await context.close()
  })
})

// docs/reference/committees.md
describe("the page of committees", () => {
  it("counts agreement of real runs, and what is missing for a number", async () => {
    const { context, misdeeds, page } = await openPage()
    await go(page, "/committee")
    await page.locator("[data-summary]").getByText("no number of independent votes yet").waitFor()
    await page.locator("[data-matrix=agreement]").waitFor()
    assert.isTrue(await page.getByRole("button", { name: "Search", exact: true }).isDisabled())
    await page.getByText("Search for the runs of one committee above first.").waitFor()
    await looksRight(page, "committee-first")
    assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
    await context.close()
  })

  it("shows who errs with whom, what each seat is worth, and the cheapest committee", async () => {
    const { context, misdeeds, page } = await openPage()
    await page.route(`${CONTROL_PLANE}/committees/independence*`, (route) => route.fulfill({ json: independences }))
    await page.route(`${CONTROL_PLANE}/committees/seats*`, (route) => route.fulfill({ json: worths }))
    let searches = 0
    const bodies: Array<{ readonly policies?: ReadonlyArray<object> }> = []
    await page.route(`${CONTROL_PLANE}/committees/search`, (route) => {
      searches += 1
      bodies.push(route.request().postDataJSON())
      const messages = ["the confirming half of the runs has 22 cases with a decision and needs 149"]
      const refusal = { statusCode: 409, errorCode: "CONFLICT", message: messages, error: "Conflict" }
      return route.fulfill(searches === 1 ? { status: 409, json: refusal } : { status: 201, json: named })
    })
    await go(page, `/committee?q=${encodeURIComponent(`scenario:${SCENARIO}`)}`)
    await page.locator("[data-summary]").getByText("Without impact-analyst 40 % cheaper").waitFor()
    await page.getByText("they decide yes more often, by 27 points").waitFor()
    await page.getByText("The same model is behind").waitFor()
    await page.getByText("The same prompt is behind").waitFor()
    await page.locator("[data-matrix=errors] td", { hasText: "0.82" }).first().waitFor()
    await page.getByRole("button", { name: "Search", exact: true }).click()
    await page.locator("[data-search]").getByText("No committee is named").waitFor()
    await page.getByRole("button", { name: "Search", exact: true }).click()
    await page.locator("[data-search]").getByText("same outcome in all 160 cases").waitFor()
    await page.getByText("2 over these runs, this one included").waitFor()
    // A shadow has a row of its own, apart from the seats.
    const shadows = page.getByRole("region", { name: "Shadows", exact: true })
    await shadows.locator("[data-shadow]").getByText("2 of 58 decisions would be refused").waitFor()
    await shadows.getByText("p = 0.039").first().waitFor()
    await shadows.getByText("impact-analyst 0.64").waitFor()
    const worth = page.getByRole("region", { name: "What each seat is worth" })
    assert.strictEqual(await worth.getByText("impact-agent-2").count(), 0)
    await page.getByText("Other policies").click()
    await page.getByRole("checkbox", { name: "policy.incident.balanced" }).check()
    await page.getByText("Other policies: 1 of at most 5").waitFor()
    assert.strictEqual(await page.locator("[data-search]").count(), 0)
    await page.getByRole("button", { name: "Search", exact: true }).click()
    await page.locator("[data-search]").getByText("same outcome in all 160 cases").waitFor()
    assert.deepStrictEqual(bodies.at(-1)?.policies, [{ policyVersion: "policy.incident.balanced" }])
    assert.isUndefined(bodies[0]?.policies)
    await shadows.scrollIntoViewIfNeeded()
    await looksRight(page, "committee")
    await page.getByLabel("Figures of the matrix").selectOption("agreement")
    await page.locator("[data-matrix=agreement] td", { hasText: "88 %" }).first().waitFor()
    assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
    await context.close()
  })
})
