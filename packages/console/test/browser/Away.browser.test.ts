import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { Page } from "playwright-core"
import { recordedEvents, serveRun } from "./Served.ts"
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
  stopStack,
  tearDown,
  waitingRun
} from "./Stage.ts"

let decided = ""

beforeAll(async () => {
  await startStack()
  decided = await completedExample()
}, 4 * PATIENCE_MS)
afterAll(tearDown)

const lightSays = (page: Page, words: string) =>
  page.locator("[data-light]").getByText(words).locator("visible=true").first().waitFor()

describe("a control plane that is away for a while", () => {
  it("reads later events of an ended run once the control plane is back", async () => {
    const { context, misdeeds, page } = await openPage()
    const recorded = await recordedEvents(decided)
    // The follower ends its stream with the end of the run, and this test adds events after it.
    const events = recorded.slice(0, recorded.findIndex(({ type }) => type === "run.completed") + 1)
    await serveRun(page, decided, events)
    const [late] = events.filter(({ type }) => type === "message.received")
    const position = events.length + 1
    const { body } = await ask("GET", `${CONTROL_PLANE}/runs/${decided}`)
    await page.route(`${CONTROL_PLANE}/runs/${decided}`, (route) =>
      route.fulfill({ json: { ...body, lastEventIndex: position, lastEventSeq: position } })
    )
    const rest = (url: URL) => url.origin === CONTROL_PLANE && url.pathname === `/runs/${decided}/events`
    await page.route(rest, (route) => route.abort("connectionreset"))
    const lightOf = (state: string) => page.locator(`[data-light="${state}"]`).locator("visible=true").first()
    await go(page, `/runs/${decided}`)
    await lightOf("reconnecting").waitFor()
    const lateAt = (index: number) => [{ ...late, id: crypto.randomUUID(), index, seq: index }]
    const askedAt: Array<number> = []
    await page.route(rest, (route) => {
      askedAt.push(performance.now())
      // An answer after a gap is dropped, and not read again at once.
      return route.fulfill({ json: lateAt(askedAt.length < 3 ? position + 1 : position) })
    })
    await lightOf("complete").getByText(`Complete · ${position} events`).waitFor()
    const [first = 0, second = 0, third = 0] = askedAt
    assert.isAtLeast(second - first, 900)
    assert.isAtLeast(third - second, 900)
    assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
    await context.close()
  })

  it("shows a view whose script could not be loaded at first, without a reload", async () => {
    const { context, misdeeds, page } = await openPage()
    await go(page, `/runs/${decided}`)
    await light(page, "complete")
    const part = /\/assets\/CostView-[^/]*\.js$/
    await page.route(part, (route) => route.abort())
    const missed = page.waitForEvent("requestfailed", (sent) => part.test(sent.url()))
    await page.getByRole("tab", { name: "Cost" }).click()
    await missed
    await page.unroute(part)
    await page.getByRole("heading", { name: "Call by call" }).waitFor()
    assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
    await context.close()
  })

  it("retries when an answer never comes", async () => {
    await waitingRun({})
    const { context, page } = await openPage()
    await page.clock.install()
    await go(page, "/runs")
    await page.locator("[data-row='0']").waitFor()
    await page.route(/\/runs\?/, () => {})
    // The list itself, and how many runs are newer.
    await Promise.all([page.waitForRequest(/include=participants/), page.waitForRequest(/createdAfter=/)])
    await page.clock.fastForward(61_000)
    await light(page, "unreachable")
    await page.unroute(/\/runs\?/)
    await light(page, "polling")
    await context.close()
  })

  // Last: it stops what the others need.
  it(
    "reconnects after an outage of the control plane",
    async () => {
      const waiting = await waitingRun({})
      const list = await openPage()
      const run = await openPage()
      await go(list.page, "/runs")
      await list.page.locator("[data-row='0']").waitFor()
      await go(run.page, `/runs/${waiting.body.runId}`)
      await light(run.page, "live")
      // The view is a separate chunk.
      await run.page.getByText("Nothing is proposed yet.").first().waitFor()
      await stopStack()
      await light(list.page, "unreachable")
      await light(run.page, "reconnecting")
      await list.page.locator("[data-row='0']").waitFor()
      await picture(list.page, "gone-1280-light")
      await picture(run.page, "gone-run-1280-light")
      await startStack()
      await light(list.page, "polling")
      await ask("POST", `${CONTROL_PLANE}/runs/${waiting.body.runId}/cancel`, { reason: "enough" })
      await run.page.locator("header [data-status='cancelled'], header [data-status='failed']").first().waitFor()
      await light(run.page, "complete")
      const { lastEventIndex } = (await ask("GET", `${CONTROL_PLANE}/runs/${waiting.body.runId}`)).body
      await lightSays(run.page, `Complete · ${lastEventIndex} events`)
      await list.context.close()
      await run.context.close()
    },
    4 * PATIENCE_MS
  )
})
