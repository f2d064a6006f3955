import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { scrollsSmoothly } from "./Frames.ts"
import { serveHugeRun } from "./HugeRun.ts"
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
  tearDown
} from "./Stage.ts"

let decided = ""

beforeAll(async () => {
  await startStack()
  decided = await completedExample()
}, 4 * PATIENCE_MS)
afterAll(tearDown)

const RUNS = 10_000
const ROWS = "[role=table][aria-label='Runs']"

describe("many runs", () => {
  it(
    "scroll without dropping frames, and are kept in bounded memory",
    async () => {
      const { context, misdeeds, page } = await openPage()
      const { body } = await ask("GET", `${CONTROL_PLANE}/runs?limit=1&include=participants`)
      const [run] = body.data
      // The list reads on from cursor to cursor, as many as it needs.
      await page.route(/\/runs\?.*include=participants/, (route) => {
        const { searchParams } = new URL(route.request().url())
        const [first, limit] = [Number(searchParams.get("cursor")), Number(searchParams.get("limit"))]
        const next = Math.min(RUNS, first + limit)
        const ids = Array.from({ length: next - first }, (_, position) => idOf(first + position))
        const data = ids.map((id) => ({ ...run, id, runId: id }))
        const nextCursor = next < RUNS ? { nextCursor: String(next) } : {}
        return route.fulfill({ json: { data, total: RUNS, limit, offset: 0, ...nextCursor } })
      })
      await go(page, "/runs")
      await page.locator("[data-row='0']").waitFor()
      await page.evaluate(
        async ({ last, rows }) => {
          const list = document.querySelector(rows)
          while (document.querySelector(`[data-row='${last}']`) === null) {
            if (list !== null) list.scrollTop = list.scrollHeight
            await new Promise(requestAnimationFrame)
          }
        },
        { last: RUNS - 1, rows: ROWS }
      )
      assert.isBelow(await page.locator("[data-row]").count(), 100)
      await scrollsSmoothly(page, { name: "10,000 runs", selector: ROWS, step: 300 })
      const devtools = await context.newCDPSession(page)
      await devtools.send("HeapProfiler.collectGarbage")
      const { usedSize } = await devtools.send("Runtime.getHeapUsage")
      process.stdout.write(`10,000 runs: ${Math.round(usedSize / 1e6)} MB of heap\n`)
      assert.isBelow(usedSize, 120e6)
      assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
      await context.close()
    },
    4 * PATIENCE_MS
  )
})

/** What a browser tab is given for a run, bytes, with the page itself. */
const MOST_HEAP = 400e6

describe("a run larger than what a browser holds", () => {
  it(
    "is followed in bounded memory, and read again at an earlier index",
    async () => {
      const { context, misdeeds, page } = await openPage()
      const run = await serveHugeRun(page, decided, { events: 60_000, largeEvery: 1_000, characters: 1_200_000 })
      await go(page, `/runs/${decided}?view=events`)
      await light(page, "complete")
      const devtools = await context.newCDPSession(page)
      await devtools.send("HeapProfiler.collectGarbage")
      const { usedSize } = await devtools.send("Runtime.getHeapUsage")
      process.stdout.write(`60,000 events, 60 of them of a megabyte: ${Math.round(usedSize / 1e6)} MB of heap\n`)
      assert.isBelow(usedSize, MOST_HEAP)
      const note = page.getByRole("note")
      await note.getByText(/^This view shows events [\d,]+ to 60,000 of a long run/).waitFor()
      await picture(page, "run-huge-light")

      // A large event is shortened, and read whole as soon as it is opened; whether it is still here or not.
      for (const index of [59_000, 1_000]) {
        await go(page, `/runs/${decided}?view=events&event=${index}`)
        const details = page.getByRole("complementary", { name: "Event", exact: true })
        await details.getByRole("heading", { name: `Event ${index}` }).waitFor()
        await details.getByRole("button", { name: "all 1,200,000 characters" }).waitFor()
      }

      // The beginning was dropped: it is read again, with the state of its own.
      run.refuse(true)
      await go(page, `/runs/${decided}?view=raw&part=state&at=1500`)
      const refused = page.getByRole("alert").filter({ hasText: "Earlier events of this run cannot be read" })
      await refused.getByText("run not found").waitFor()
      run.refuse(false)
      await refused.getByRole("button", { name: "Try again" }).click()
      await page.getByText("This view shows events 1,001 to 1,500 of a long run").waitFor()
      await page.getByText("as of event 1,500,").waitFor()
      const state = await page.getByRole("region", { name: "State as JSON" }).evaluate(async (region) => {
        let text = ""
        for (let top = -1; region.scrollTop > top; ) {
          top = region.scrollTop
          text += region.textContent
          region.scrollTop += region.clientHeight
          await new Promise(requestAnimationFrame)
        }
        return text
      })
      const { timeline } = run.stateAfter(1_500)
      assert.match(state, new RegExp(`totalEvents"?: ?${timeline.totalEvents}(?!\\d)`))
      assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
      run.stop()
      await context.close()
    },
    6 * PATIENCE_MS
  )
})

describe("a large event among those of all runs", () => {
  it(
    "is shortened in the list, and read whole when it is opened",
    async () => {
      const { context, misdeeds, page } = await openPage()
      const [{ seq }] = (await ask("GET", `${CONTROL_PLANE}/runs/${decided}/events?limit=1`)).body
      const grow = (event: { readonly seq: number; readonly data: object }) =>
        event.seq === seq ? { ...event, data: { ...event.data, note: "x".repeat(1_200_000) } } : event
      // Both lists have it: that of all runs, and that of its own.
      await page.route(/\/events\?/, async (route) => {
        const response = await route.fetch({ maxRetries: 3 })
        const json = await response.json()
        return route.fulfill({
          response,
          json: Array.isArray(json) ? json.map(grow) : { ...json, data: json.data.map(grow) }
        })
      })
      await go(page, "/events")
      const row = page.locator(`[data-seq="${seq}"]`)
      await page.locator("[data-seq]").first().waitFor()
      await page.evaluate(async (wanted) => {
        const list = document.querySelector("[data-seq]")?.closest("[tabindex]")
        for (let tries = 0; tries < 200 && document.querySelector(wanted) === null; tries++) {
          if (list) list.scrollTop += 200
          await new Promise(requestAnimationFrame)
        }
      }, `[data-seq="${seq}"]`)
      await row.click()
      await page.getByRole("button", { name: "all 1,200,000 characters" }).waitFor()
      assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
      await context.close()
    },
    4 * PATIENCE_MS
  )
})

/** A different UUID for each index. */
const idOf = (position: number) => `00000000-0000-4000-8000-${String(position).padStart(12, "0")}`
