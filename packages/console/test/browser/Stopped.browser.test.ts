import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { Page } from "playwright-core"
import { startBreakingProxy } from "./proxies/BreakingProxy.ts"
import {
  CONTROL_PLANE,
  completedExample,
  go,
  LAUNCHER,
  light,
  openPage,
  PATIENCE_MS,
  pauseDatabase,
  pauseStack,
  picture,
  type Stage,
  startStack,
  tearDown,
  violationsOf,
  waitingRun
} from "./Stage.ts"

let decided = ""
let waiting = ""

beforeAll(async () => {
  await startStack()
  decided = await completedExample()
  waiting = (await waitingRun({})).body.runId
}, 4 * PATIENCE_MS)
afterAll(tearDown)

/** The pages of the console; a run that has ended and one that has not. */
const paths = () => ({
  overview: "/overview",
  runs: "/runs",
  run: `/runs/${waiting}`,
  decided: `/runs/${decided}?view=decision`,
  events: "/events",
  agents: "/agents",
  review: "/review",
  policies: "/policies",
  alerts: "/alerts",
  webhooks: "/webhooks",
  audit: "/audit",
  operations: "/operations",
  stability: "/stability",
  committee: "/committee",
  compare: `/compare?left=${decided}&right=${decided}`
})

const GREEN = ["live", "polling", "complete"]

const isGreen = (page: Page): Promise<boolean> =>
  page.evaluate(
    (green) =>
      [...document.querySelectorAll("[data-light]")].some((found) =>
        green.includes(found.getAttribute("data-light") ?? "")
      ),
    GREEN
  )

const untilGreen = (page: Page) =>
  page.waitForFunction(
    (green) => green.includes(document.querySelector("[data-light]")?.getAttribute("data-light") ?? ""),
    GREEN
  )

const openAll = async (wanted: Readonly<Record<string, string>>) => {
  const stages: Array<readonly [name: string, stage: Stage]> = []
  for (const [name, path] of Object.entries(wanted)) {
    const stage = await openPage()
    await go(stage.page, path)
    await untilGreen(stage.page)
    await stage.page.waitForFunction(() => document.querySelector(".skeleton") === null)
    stages.push([name, stage])
  }
  return stages
}

/** Passing checks and chips: green that says that something works. */
const ticks = (page: Page): Promise<number> => page.locator("section svg.text-good, section dd .text-good").count()

describe("a service that has stopped without closing its connections", () => {
  it(
    "is noticed by every page within seconds, and every page continues",
    async () => {
      const stages = await openAll(paths())
      const resume = pauseStack()
      try {
        // The pages of hidden tabs poll late: each page has its turn in front.
        for (const [name, { page }] of stages) {
          await page.bringToFront()
          const begun = performance.now()
          await page
            .waitForFunction((green) => {
              const found = [...document.querySelectorAll("[data-light]")]
              return found.length > 0 && found.every((one) => !green.includes(one.getAttribute("data-light") ?? ""))
            }, GREEN)
            .catch(async (cause: unknown) => {
              const shown = await page.locator("[data-light]").allTextContents()
              throw new Error(`${name} keeps the light ${JSON.stringify(shown)}`, { cause })
            })
          assert.isBelow(performance.now() - begun, 15_000, name)
          if (name === "operations") {
            await page.getByText("all checks pass").waitFor({ state: "detached" })
            assert.strictEqual(await ticks(page), 0)
          }
          await picture(page, `stopped-${name}-1280-light`)
        }
      } finally {
        resume()
      }
      for (const [, { context, misdeeds, page }] of stages) {
        await page.bringToFront()
        await untilGreen(page)
        assert.deepStrictEqual(misdeeds.errors, [])
        await context.close()
      }
    },
    8 * PATIENCE_MS
  )
})

describe("a database that does not answer", () => {
  it(
    "is one banner on each page, without a green tick or a green light beside it",
    async () => {
      const { alerts, events, operations, run } = paths()
      const stages = await openAll({ operations, events, alerts, run })
      const resume = pauseDatabase()
      try {
        for (const [name, { page }] of stages) {
          await page.bringToFront()
          await page.locator("[data-notice=database]").waitFor()
          assert.strictEqual(await page.locator("[data-notice]").count(), 1, name)
          assert.isFalse(await isGreen(page), name)
          if (name === "operations") {
            await page.getByText("does not answer").first().waitFor()
            assert.strictEqual(await ticks(page), 0)
            assert.isAtLeast(await page.locator("[data-read-age]").count(), 9)
            assert.deepStrictEqual(await violationsOf(page), [])
          }
          await picture(page, `no-database-${name}-1280-light`)
        }
      } finally {
        resume()
      }
      for (const [, { context, page }] of stages) {
        await page.bringToFront()
        await page.locator("[data-notice=database]").waitFor({ state: "detached" })
        await untilGreen(page)
        await context.close()
      }
    },
    6 * PATIENCE_MS
  )
})

describe("a computer whose clock is an hour behind", () => {
  it("has the ages of the service's clock, and says so", async () => {
    const { context, page } = await openPage()
    await page.clock.install({ time: Date.now() - 3_600_000 })
    await go(page, "/runs")
    await page
      .locator("[data-notice=clock]")
      .getByText(/is (59|60|1 h).* behind the service/)
      .waitFor()
    await page
      .locator("[data-row='0'] time")
      .first()
      .getByText(/^(just now|\d+ (s|min) ago)$/)
      .waitFor()
    assert.deepStrictEqual(await violationsOf(page), [])
    await picture(page, "clock-1280-light")
    await context.close()
  })
})

describe("a launch service that does not allow the address of the page", () => {
  it("may be away or refuse the page, which names both and the setting", async () => {
    // A console behind a proxy whose address the launch service does not know.
    const proxy = await startBreakingProxy(CONTROL_PLANE, /^\/never/, 0)
    const { context, page } = await openPage({ origin: proxy.origin })
    await page.goto(`${proxy.origin}/console/launch`)
    await page
      .getByText(new RegExp(`launch service at ${LAUNCHER}/?: .* does not allow pages of ${proxy.origin}`))
      .waitFor()
    await page.getByText(`add ${proxy.origin} to CORS_ORIGIN`).waitFor()
    await light(page, "polling")
    await picture(page, "launch-refused-1280-light")
    await context.close()
    await proxy.stop()
  })
})
