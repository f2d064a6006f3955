import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { Page } from "playwright-core"
import { startBreakingProxy } from "./proxies/BreakingProxy.ts"
import {
  ask,
  CONTROL_PLANE,
  completedExample,
  go,
  killStack,
  light,
  openPage,
  PATIENCE_MS,
  picture,
  type Stage,
  startStack,
  tearDown,
  waitingRun
} from "./Stage.ts"

beforeAll(startStack, 2 * PATIENCE_MS)
afterAll(tearDown)

/** A connection light that claims current data. */
const isGreen = (page: Page): Promise<boolean> =>
  page.evaluate(() =>
    [...document.querySelectorAll("[data-light]")].some((found) =>
      ["live", "polling", "complete"].includes(found.getAttribute("data-light") ?? "")
    )
  )

const untilGreenIs = (page: Page, wanted: boolean) =>
  page.waitForFunction(
    (expected) =>
      [...document.querySelectorAll("[data-light]")].some((found) =>
        ["live", "polling", "complete"].includes(found.getAttribute("data-light") ?? "")
      ) === expected,
    wanted
  )

/** Texts that claim that all is well. */
const CLAIMS = /all checks pass|All is well|Up to date/

const stagesOf = async (paths: Readonly<Record<string, string>>) => {
  const stages: Array<readonly [name: string, stage: Stage]> = []
  for (const [name, path] of Object.entries(paths)) {
    const stage = await openPage()
    await go(stage.page, path)
    await untilGreenIs(stage.page, true)
    await stage.page.waitForFunction(() => document.querySelector(".skeleton") === null)
    stages.push([name, stage])
  }
  return stages
}

describe("a control plane that is killed", () => {
  it(
    "leaves no page with a green light or a passing check, and every page continues after the restart",
    async () => {
      const decided = await completedExample()
      const other = await completedExample()
      const waiting = await waitingRun({})
      const stages = await stagesOf({
        overview: "/overview",
        runs: "/runs",
        launch: "/launch",
        run: `/runs/${waiting.body.runId}`,
        events: "/events",
        agents: "/agents",
        policies: "/policies",
        webhooks: "/webhooks",
        audit: "/audit",
        compare: `/compare?left=${decided}&right=${other}`,
        operations: "/operations"
      })
      const ended = await stagesOf({ decided: `/runs/${decided}?view=decision` })
      await killStack()
      for (const [name, { page }] of stages) {
        await untilGreenIs(page, false).catch(async (cause: unknown) => {
          const shown = await page.locator("[data-light]").allTextContents()
          throw new Error(`${name} keeps the light ${JSON.stringify(shown)}`, { cause })
        })
        await page
          .locator("[data-light]")
          .getByText(/as of .* ago|No answer|Reconnecting/)
          .first()
          .waitFor({ state: "attached" })
        await page.getByText(CLAIMS).locator("visible=true").first().waitFor({ state: "detached" })
        assert.isFalse(await page.getByText("another form").first().isVisible(), name)
        await picture(page, `killed-${name}-1280-light`)
      }
      // A check passes only with current data.
      for (const [name, { page }] of stages.filter(([key]) => key === "operations" || key === "overview")) {
        assert.strictEqual(await page.locator("section svg.text-good, section dd .text-good").count(), 0, name)
      }
      // Pages that are opened while the service is away wait for it.
      for (const [, { page }] of stages.slice(0, 3)) await page.getByRole("link", { name: "Events" }).first().click()
      await startStack()
      for (const [name, { context, misdeeds, page }] of [...stages, ...ended]) {
        // Both at once: on a busy machine a poll may be late, and the light is not green for that time.
        await page
          .waitForFunction(
            () =>
              (document.querySelector("[role=alert], [data-stale], .skeleton") === null ||
                document.querySelector("[role=alert]")?.textContent === "copied") &&
              [...document.querySelectorAll("[data-light]")].some((found) =>
                ["live", "polling", "complete"].includes(found.getAttribute("data-light") ?? "")
              )
          )
          .catch(async (cause: unknown) => {
            const left = await page.locator("[role=alert], [data-stale], .skeleton, [data-light]").allTextContents()
            throw new Error(`${name} still shows ${JSON.stringify(left)}`, { cause })
          })
        assert.deepStrictEqual(misdeeds.errors, [], name)
        await context.close()
      }
    },
    10 * PATIENCE_MS
  )

  it("retries an answer whose connection breaks, on the events page and on the overview", async () => {
    await waitingRun({})
    for (const [path, breaks, shown] of [
      ["/events", /^\/events\?/, "[data-seq]"],
      ["/overview", /^\/dashboard\/overview/, "[data-trend], [aria-label='Needs attention'] li, section"]
    ] as const) {
      const proxy = await startBreakingProxy(CONTROL_PLANE, breaks, 2)
      const { context, page } = await openPage({ origin: proxy.origin })
      await page.goto(`${proxy.origin}/console${path}`)
      await page.locator(shown).first().waitFor()
      await untilGreenIs(page, true)
      assert.strictEqual(await page.getByText("another form").count(), 0, path)
      assert.strictEqual(proxy.broken(), 2, path)
      await context.close()
      await proxy.stop()
    }
  })

  it("keeps the light of the control plane apart from the launch service", async () => {
    const { context, page } = await openPage()
    await go(page, "/launch")
    await light(page, "polling")
    await page.route(
      (url) => url.origin === CONTROL_PLANE,
      (route) => route.abort("connectionrefused")
    )
    await light(page, "unreachable")
    // The launch service answers.
    const answered = page.waitForResponse((answer) => !answer.url().startsWith(CONTROL_PLANE))
    await page.locator("main button[aria-pressed]").first().click()
    await answered
    await page.waitForTimeout(2_000)
    assert.isFalse(await isGreen(page))
    await page.unrouteAll()
    await light(page, "polling")
    assert.strictEqual((await ask("GET", `${CONTROL_PLANE}/healthz`)).status, 200)
    await context.close()
  })
})
