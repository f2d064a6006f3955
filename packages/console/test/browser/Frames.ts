import { assert } from "@effect/vitest"
import type { Page } from "playwright-core"

/** Work that a list may add to a frame while it is scrolled, milliseconds. */
const MOST_ADDED_MS = 50
const STEPS = 40
/** A page that drops frames does so each time; a machine that is busy for a moment does not. */
const TRIES = 4

interface Scrolled {
  /** The scrolled element, for readers of the figures. */
  readonly name: string
  readonly selector: string
  /** CSS pixels a frame. */
  readonly step: number
}

/**
 * The work of a page for each of 40 steps, milliseconds (p95). Each step ends when its second frame is drawn: the
 * second one draws what the first one began. Other load of the processor does not count.
 */
const workOf = async (page: Page, step: (share: number) => Promise<void>): Promise<number> => {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" })
  const worked = async () => {
    const { metrics } = await devtools.send("Performance.getMetrics")
    return 1_000 * (metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN)
  }
  const took: Array<number> = []
  for (let number = 1; number <= STEPS; number++) {
    const before = await worked()
    await step(number / STEPS)
    took.push((await worked()) - before)
  }
  await devtools.detach()
  return took.toSorted((one, other) => one - other)[Math.floor(0.95 * STEPS) - 1] ?? Number.NaN
}

/** Fails unless one work adds less than 50 ms to a frame (p95) of the usual one. Both take turns. */
const addsLittle = async (name: string, work: () => Promise<number>, usual: () => Promise<number>) => {
  const tries: Array<string> = []
  for (let tried = 0; tried < TRIES; tried++) {
    const [some, common] = [await work(), await usual()]
    tries.push(`${some.toFixed(1)} ms, usually ${common.toFixed(1)} ms`)
    process.stdout.write(`${name}, work of a frame (p95): ${tries.at(-1)}\n`)
    if (some - common < MOST_ADDED_MS) return
  }
  assert.fail(`${name}, work of a frame (p95), each time too much: ${tries.join("; ")}`)
}

/** Fails unless scrolling a list adds less than 50 ms of work to a frame (p95) of the same page at rest. */
export const scrollsSmoothly = async (page: Page, { name, selector, step }: Scrolled) => {
  const scrolledWork = (by: number) =>
    workOf(page, async (share) => {
      const moved = await page.evaluate(
        async ({ by, selector }) => {
          const list = document.querySelector(selector)
          if (list === null) throw new Error("the page has no list")
          const before = list.scrollTop
          list.scrollTop += by
          await new Promise(requestAnimationFrame)
          await new Promise(requestAnimationFrame)
          return list.scrollTop !== before
        },
        // Down, and up again.
        { by: share <= 0.5 ? by : -by, selector }
      )
      if (by !== 0 && !moved) throw new Error("the list did not scroll")
    })
  await page.locator(selector).evaluate((list) => list.scrollTo(0, 0))
  await addsLittle(
    `${name} scrolled`,
    () => scrolledWork(step),
    () => scrolledWork(0)
  )
}

/** Drags the slider of a run through all of it. */
const scrubbedWork = (page: Page): Promise<number> =>
  workOf(page, (share) =>
    page.getByLabel("Index in the run").evaluate(async (slider: HTMLInputElement, share) => {
      const setValue = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set
      setValue?.call(slider, String(Math.round(1 + (Number(slider.max) - 2) * share)))
      slider.dispatchEvent(new Event("input", { bubbles: true }))
      await new Promise(requestAnimationFrame)
      await new Promise(requestAnimationFrame)
    }, share)
  )

/** Fails unless a long run adds less than 50 ms of work to a frame (p95) of a short run, while its index is dragged. */
export const scrubsSmoothly = (page: Page, short: Page) =>
  addsLittle(
    "a long run scrubbed",
    () => scrubbedWork(page),
    () => scrubbedWork(short)
  )
