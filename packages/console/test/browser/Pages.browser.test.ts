import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import {
  ask,
  CONTROL_PLANE,
  go,
  launchExample,
  openPage,
  picture,
  startStack,
  tearDown,
  violationsOf
} from "./Stage.ts"

beforeAll(async () => {
  await startStack()
  await launchExample()
})
afterAll(tearDown)

const get = async (path: string) => (await ask("GET", `${CONTROL_PLANE}${path}`)).body

describe("the pages of the fleet", () => {
  it("shows the figures of the overview as the API has them, and leads to the runs that they count", async () => {
    const { context, misdeeds, page } = await openPage()
    await go(page, "/")
    const kpi = (id: string) => page.locator(`[data-kpi="${id}"]`)
    await kpi("total").waitFor()
    const { charts, kpis, scenarios } = await get("/dashboard/overview?window=24h")
    assert.strictEqual(await kpi("total").locator("[data-value]").textContent(), String(kpis.totalRuns))
    assert.strictEqual(await kpi("failed").locator("[data-value]").textContent(), String(kpis.failedRuns))
    await page.locator("[data-chart] canvas").first().waitFor()
    assert.strictEqual(await page.locator("[data-chart]").count(), Object.keys(charts).length)
    await page.getByRole("table").getByText(scenarios[0].scenario).waitFor()
    assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
    await kpi("positive").click()
    await page.waitForURL(/\/runs\?q=/)
    await context.close()
  })

  it("has no violation that axe finds on any of them, in both themes, on wide and narrow screens", async () => {
    const pages = ["overview"]
    for (const theme of ["light", "dark"] as const) {
      for (const width of [1280, 390]) {
        const { context, page } = await openPage({ theme, width })
        for (const name of pages) {
          await go(page, `/${name}`)
          await page.locator("h1").waitFor()
          await page.waitForFunction(() => document.querySelector(".skeleton") === null)
          await picture(page, `${name}-${width}-${theme}`)
          assert.deepStrictEqual(await violationsOf(page), [], `${name} ${theme} ${width}`)
          assert.isTrue(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), name)
        }
        await context.close()
      }
    }
  })
})
