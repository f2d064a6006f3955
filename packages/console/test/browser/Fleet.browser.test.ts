import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { framesOf, MOST_DROPPED } from "./Frames.ts"
import { ask, CONTROL_PLANE, completedExample, go, openPage, PATIENCE_MS, startStack, tearDown } from "./Stage.ts"

beforeAll(async () => {
  await startStack()
  await completedExample()
}, 4 * PATIENCE_MS)
afterAll(tearDown)

const RUNS = 10_000
const ROWS = "[role=table] [role=rowgroup][tabindex='0']"

describe("many runs", () => {
  it(
    "scroll without dropping frames, and are kept in bounded memory",
    async () => {
      const { context, misdeeds, page } = await openPage()
      const { body } = await ask("GET", `${CONTROL_PLANE}/runs?limit=1&include=participants`)
      const [run] = body.data
      // The list reads on from cursor to cursor, as many as it asks for.
      await page.route(/\/runs\?.*include=participants/, (route) => {
        const { searchParams } = new URL(route.request().url())
        const [first, limit] = [Number(searchParams.get("cursor")), Number(searchParams.get("limit"))]
        const next = Math.min(RUNS, first + limit)
        const ids = Array.from({ length: next - first }, (_, place) => idOf(first + place))
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
      const { longIdle, longScrolled } = await framesOf(page, { name: "10,000 runs", selector: ROWS, step: 300 })
      assert.isBelow(longScrolled - longIdle, MOST_DROPPED)
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

/** A UUID of its own for each place. */
const idOf = (place: number) => `00000000-0000-4000-8000-${String(place).padStart(12, "0")}`
