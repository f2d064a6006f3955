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
    const recorded = await recordedEvents(run)
    // The follower ends its stream with the end of the run, and what came later is what this test adds.
    const events = recorded.slice(0, recorded.findIndex(({ type }) => type === "run.completed") + 1)
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
    const lateAt = (index: number) => [{ ...late, id: crypto.randomUUID(), index, seq: index }]
    const askedAt: Array<number> = []
    await page.route(rest, (route) => {
      askedAt.push(performance.now())
      // An answer with a hole before it is not taken, and not asked for again at once.
      return route.fulfill({ json: lateAt(askedAt.length < 3 ? place + 1 : place) })
    })
    await lightOf("complete").getByText(`Complete · ${place} events`).waitFor()
    const [first = 0, second = 0, third = 0] = askedAt
    assert.isAtLeast(second - first, 900)
    assert.isAtLeast(third - second, 900)
    assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
    await context.close()
  })
})
