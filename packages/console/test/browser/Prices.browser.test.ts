import { readFileSync } from "node:fs"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { makeModelPrices, readPriceFile } from "@runplane/domain"
import * as Result from "effect/Result"
import type { Page } from "playwright-core"
import { looksRight } from "./Looks.ts"
import { recordedEvents, serveRun, spendingRun } from "./Served.ts"
import {
  ask,
  CONTROL_PLANE,
  completedExample,
  go,
  light,
  openPage,
  PATIENCE_MS,
  picture,
  startStack,
  tearDown,
  violationsOf,
  waitingRun
} from "./Stage.ts"

let decided = ""

beforeAll(async () => {
  await startStack()
  decided = await completedExample()
}, 4 * PATIENCE_MS)
afterAll(tearDown)

const exact = { provider: "openai", model: "gpt-4o", costBasis: "catalogue", priceKey: "openai/gpt-4o@0.1.8" }
const guess = { model: "our-model", costBasis: "fallback" }
const LONG = "a-model-with-a-very-long-name-".repeat(20)

/** Calls of every kind: exact, guessed, with cached and reasoning tokens, stated by the agent, without usage. */
const MIXED = [
  [
    "ana",
    {
      ...exact,
      promptTokens: 12_000,
      cachedTokens: 8_000,
      completionTokens: 800,
      estimatedCostUsd: 0.028,
      latencyMs: 900
    }
  ],
  ["bob", { ...exact, promptTokens: 2_000, completionTokens: 5_000, reasoningTokens: 4_200, estimatedCostUsd: 0.055 }],
  ["bob", { ...guess, promptTokens: 40_000, cacheWriteTokens: 500, completionTokens: 3_000, estimatedCostUsd: 0.049 }],
  ["cleo", { model: LONG, costBasis: "fallback", promptTokens: 100, completionTokens: 1, estimatedCostUsd: 0.000103 }],
  ["cleo", { model: "agreed", costBasis: "supplied", promptTokens: 1, completionTokens: 1, estimatedCostUsd: 0.002 }],
  ["cleo", { model: "gpt-4o-mini", usage: "missing" }]
] as const

const openCost = async (page: Page, calls: Parameters<typeof spendingRun>[1]) => {
  await serveRun(page, decided, spendingRun(await recordedEvents(decided), calls))
  await go(page, `/runs/${decided}?view=cost`)
  await light(page, "complete")
}

const banner = (page: Page) => page.getByRole("region", { name: "Guessed cost" })

/** Serves the overview as if so much of its cost were a guess. */
const guessedOverview = (page: Page, totalCostUsd: number, guessedCostUsd: number) =>
  page.route(`${CONTROL_PLANE}/dashboard/overview?*`, async (route) => {
    const response = await route.fetch()
    const body = await response.json()
    const kpis = { ...body.kpis, totalCostUsd, totalCostUsdExact: totalCostUsd, guessedCostUsd }
    await route.fulfill({ response, json: { ...body, kpis } })
  })

describe("the cost of a run", () => {
  it("is shown by model and by participant, with its parts, and agrees in every view", async () => {
    const { context, misdeeds, page } = await openPage()
    await openCost(page, MIXED)
    const models = page.getByRole("region", { name: "By model" })
    const cells = async (table: typeof models, name: string) => {
      const row = table.getByRole("row").filter({ hasText: name })
      await row.waitFor()
      return row.getByRole("cell").allTextContents()
    }
    await models.getByRole("cell", { name: "54,101" }).waitFor()
    assert.deepStrictEqual(
      [await cells(models, "openai/gpt-4o@0.1.8"), await cells(models, "gpt-4o-mini")],
      [
        ["$0.083000", "2", "0", "14,000", "8,000", "0", "5,800", "4,200"],
        ["unknown (1 call without usage not included)", "1", "1", "–", "–", "–", "–", "–"]
      ]
    )
    const [total, ...counts] = await cells(models, "All calls")
    assert.match(
      total ?? "",
      /^over ≈ \$0\.134103 \(\$0\.0491 of it is a guess.*; 1 call without usage not included\)$/
    )
    assert.deepStrictEqual(counts, ["6", "1", "54,101", "8,000", "500", "8,802", "4,200"])
    const participants = page.getByRole("region", { name: "By participant" })
    assert.deepStrictEqual(await cells(participants, "All calls"), [total ?? "", ...counts])
    await page.locator("header").getByText("over ≈ $0.134").waitFor()
    await page.getByText("Usage missing: 1 call without token counts.").waitFor()
    assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
    await context.close()
  })

  it("names the models whose cost is a guess, and gives the entries that end the guess", async () => {
    const { context, page } = await openPage()
    await openCost(page, MIXED)
    await banner(page).getByRole("heading", { name: "37 % of the cost is a guess: $0.0491 of $0.134" }).waitFor()
    await banner(page).getByText("our-model", { exact: true }).waitFor()
    await banner(page).getByText("How to give a model its price").click()
    await banner(page).getByText("runplane prices check").waitFor()
    const file = (await banner(page).getByRole("region", { name: "Entry of the price file" }).textContent()) ?? ""
    const prices = makeModelPrices(Result.getOrThrow(readPriceFile(file)))
    for (const model of ["our-model", LONG]) assert.strictEqual(prices.find({ model, at: 0 }).basis, "override")
    assert.deepStrictEqual(await violationsOf(page), [])
    await context.close()
  })

  it("has no banner when 5 % or less is a guess", async () => {
    const { context, page } = await openPage()
    await openCost(page, [
      ["ana", { ...exact, promptTokens: 1_000, completionTokens: 100, estimatedCostUsd: 0.95 }],
      ["bob", { ...guess, promptTokens: 1_000, completionTokens: 100, estimatedCostUsd: 0.05 }]
    ])
    await page.getByText("5 % of the cost is a guess: $0.05.").waitFor()
    assert.strictEqual(await banner(page).count(), 0)
    await context.close()
  })

  it(
    "fits on wide and narrow screens in both themes",
    async () => {
      const { context, page } = await openPage()
      await openCost(page, MIXED)
      await banner(page).waitFor()
      await looksRight(page, "cost-mixed", [1440, 1024, 390])
      await context.close()
    },
    4 * PATIENCE_MS
  )
})

describe("costs of many runs", () => {
  it("are in the list for runs of every status, with a mark and a reason for guesses", async () => {
    const running = String((await waitingRun({ runLabel: "still running" })).body.runId)
    const { context, page } = await openPage()
    await page.route(
      (url) => url.origin === CONTROL_PLANE && url.pathname === "/runs",
      async (route) => {
        const response = await route.fetch()
        const body = await response.json()
        const usage = { totalTokens: 45_100, estimatedCostUsd: 0.0589, guessedCostUsd: 0.0409 }
        const data = body.data.map((run: { id: string }) => (run.id === running ? { ...run, usage } : run))
        await route.fulfill({ response, json: { ...body, data } })
      }
    )
    await go(page, "/runs?columns=tokens,cost")
    const row = page.getByRole("row").filter({ hasText: "still running" })
    await row.getByText("45.1K").waitFor()
    await row.getByTitle("$0.0409 of it is a guess: no known price of the model").getByText("≈ $0.0589").waitFor()
    // The example uses known models: its cost is what the service says, without a mark.
    const { data } = (await ask("GET", `${CONTROL_PLANE}/runs?status=completed`)).body
    const { estimatedCostUsd, guessedCostUsd } = data[0].usage
    assert.isUndefined(guessedCostUsd)
    const ended = page.getByRole("row").filter({ hasText: "region-failover" }).first()
    await ended.getByText(`$${Number(estimatedCostUsd.toPrecision(3))}`, { exact: true }).waitFor()
    // The export has the same figures.
    await page.getByRole("button", { name: "Export the list" }).click()
    await page.getByRole("dialog").getByText("guessedCostUsd").waitFor()
    const saving = page.waitForEvent("download")
    await page.getByRole("button", { name: "CSV" }).click()
    const [names = "", ...lines] = readFileSync(await (await saving).path(), "utf8").split("\r\n")
    assert.include(names, ",tokens,costUsd,guessedCostUsd,callsWithoutUsage,")
    assert.include(lines.find((line) => line.includes("still running")) ?? "", ",45100,0.0589,0.0409,,")
    await context.close()
  })

  it("have a banner in the overview when more than 5 % is a guess", async () => {
    const { context, page } = await openPage()
    await guessedOverview(page, 1, 0.051)
    await page.route(`${CONTROL_PLANE}/pricing/unknown?*`, (route) =>
      route.fulfill({
        json: {
          since: new Date().toISOString(),
          calls: 2,
          estimatedCostUsd: 1,
          guessedCostUsd: 0.051,
          isPartial: false,
          models: [{ model: "our-model", calls: 1, totalTokens: 10, guessedCostUsd: 0.051, share: 0.051 }]
        }
      })
    )
    await go(page, "/overview")
    await banner(page).getByRole("heading", { name: "5.1 % of the cost is a guess: $0.051 of $1.00" }).waitFor()
    await banner(page).getByText("our-model", { exact: true }).waitFor()
    assert.match((await page.locator('[data-kpi="cost"] [data-value]').textContent()) ?? "", /^≈ \$1\.00/)
    assert.deepStrictEqual(await violationsOf(page), [])
    await picture(page, "overview-guessed-1280-light")
    await context.close()
  })

  it("have no banner in the overview when 5 % is a guess", async () => {
    const { context, page } = await openPage()
    await guessedOverview(page, 1, 0.05)
    await go(page, "/overview")
    await page.locator('[data-kpi="cost"]').getByText("≈ $1.00").waitFor()
    assert.strictEqual(await banner(page).count(), 0)
    await context.close()
  })
})

describe("alerts", () => {
  it("adds a budget, previews it, and acknowledges and silences its alerts", async () => {
    const rules = `${CONTROL_PLANE}/alerts/rules`
    const { context, misdeeds, page } = await openPage()
    await go(page, "/alerts")
    await page.getByText("No rules yet").waitFor()
    await page.getByRole("button", { name: "Add a rule" }).click()
    const form = page.getByRole("dialog")
    await form.getByLabel("Subject", { exact: true }).selectOption({ label: "everything together" })
    await form.getByText("Name, time zone, telemetry").click()
    await form.getByLabel("Id", { exact: true }).fill("team")
    await form.getByLabel("Name", { exact: true }).fill("Budget of the team")
    for (const _ of [2, 3]) await form.getByRole("button", { name: "Add a level" }).click()
    for (const [number, at] of ["0.0001", "0.0002", "1000"].entries()) {
      await form.getByLabel(`Threshold of level ${number + 1}`).fill(at)
    }
    await form.getByText("Would have fired 2 times in the last 7 days").waitFor()
    await form.getByLabel("Time zone").fill("Europe/Nowhere")
    await form.getByRole("button", { name: "Add", exact: true }).click()
    await form.getByRole("alert").getByText("zone must be the IANA name of a time zone").waitFor()
    assert.deepStrictEqual(await violationsOf(page), [])
    await form.getByLabel("Time zone").fill("Europe/Berlin")
    await form.getByRole("button", { name: "Add", exact: true }).click()
    await form.waitFor({ state: "detached" })
    await page.locator('[data-budget="team"]').getByText("of $1,000.00").waitFor()

    // Nothing has happened since, so the preview of the last days has the alerts.
    await page.getByText("No rule has an open alert.").waitFor()
    await page.getByRole("button", { name: "7 days: preview of Budget of the team" }).click()
    const preview = page.getByRole("region", { name: "Preview of Budget of the team" })
    await preview.getByText("2 alerts since").waitFor()
    const tested = (await ask("POST", `${rules}/team/test`)).body
    assert.lengthOf(tested.firings, 2)
    await page.getByRole("button", { name: "Remove" }).click()
    await page.getByRole("button", { name: "Remove the rule" }).click()
    await page.getByText("No rules yet").waitFor()

    await ask("POST", rules, {
      ...{ id: "team", name: "Budget of the team", per: "all", window: "month", measure: "costUsd", backfill: true },
      levels: [{ at: 0.0001, severity: "critical", actions: [] }]
    })
    await go(page, "/alerts?rule=team")
    const open = page.getByRole("region", { name: "Open alerts" })
    await open.getByText("1 alert", { exact: true }).waitFor()
    await page.locator('[data-budget="team"]').getByText("exhausted; the period ends").waitFor()
    await open.getByRole("button", { name: "Acknowledge" }).click()
    await page.getByLabel("Note (optional)").fill("the team is on it")
    await page.getByRole("dialog").getByRole("button", { name: "Acknowledge" }).click()
    await open.getByText("acknowledged").waitFor()
    await open.getByRole("button", { name: "Silence" }).click()
    await page.getByLabel("Reason").fill("planned")
    await page.getByRole("dialog").getByRole("button", { name: "Silence" }).click()
    await page.getByRole("dialog").waitFor({ state: "detached" })
    const [silence] = (await ask("GET", `${CONTROL_PLANE}/alerts/silences`)).body
    assert.deepInclude(silence, { reason: "planned", match: 'scenarioRef:"incident/region-failover@1.0.0"' })
    assert.deepStrictEqual(await violationsOf(page), [])
    await picture(page, "alerts-1280-light")
    await ask("DELETE", `${rules}/team`)
    assert.lengthOf(misdeeds.errors, 0)
    await context.close()
  })
})
