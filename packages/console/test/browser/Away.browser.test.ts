import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { recordedEvents, serveRun } from "./Served.ts"
import { ask, CONTROL_PLANE, go, launchExample, openPage, PATIENCE_MS, startStack, tearDown } from "./Stage.ts"

beforeAll(startStack, 2 * PATIENCE_MS)
afterAll(tearDown)

const ended = async (): Promise<string> => {
  const id = await launchExample()
  for (let left = 60; left > 0; left--) {
    const { body } = await ask("GET", `${CONTROL_PLANE}/runs/${id}?wait=terminal&timeoutMs=10000`)
    if (body.status === "completed") return id
  }
  throw new Error("the run did not complete")
}

describe("a control plane that is away for a while", () => {
  it("reads what came after the end of a run once the control plane is back", async () => {
    const { context, misdeeds, page } = await openPage()
    const run = await ended()
    const events = await recordedEvents(run)
    await serveRun(page, run, events)
    const [late] = events.filter(({ type }) => type === "message.received")
    const place = events.length + 1
    const { body } = await ask("GET", `${CONTROL_PLANE}/runs/${run}`)
    await page.route(`${CONTROL_PLANE}/runs/${run}`, (route) =>
      route.fulfill({ json: { ...body, lastEventIndex: place, lastEventSeq: place } })
    )
    const rest = (url: URL) => url.origin === CONTROL_PLANE && url.pathname === `/runs/${run}/events`
    await page.route(rest, (route) => route.abort("connectionreset"))
    const lightOf = (state: string) => page.locator(`[data-light="${state}"]`).locator("visible=true").first()
    await go(page, `/runs/${run}`)
    await lightOf("reconnecting").waitFor()
    const json = [{ ...late, id: crypto.randomUUID(), index: place, seq: place }]
    await page.route(rest, (route) => route.fulfill({ json }))
    await lightOf("complete").getByText(`Complete · ${place} events`).waitFor()
    assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
    await context.close()
  })
})
