import { assert } from "@effect/vitest"
import type { Page } from "playwright-core"

/** A frame that took longer was seen to be dropped: three of those of a screen. */
const LONG_FRAME_MS = 50
/** Share of long frames that scrolling may add to those of the same page at rest. */
const MOST_DROPPED = 0.2
/** A list that drops frames does so each time; a machine that is busy for a moment does not. */
const TRIES = 4

interface Scrolled {
  /** The scrolled element, for readers of the figures. */
  readonly name: string
  readonly selector: string
  /** CSS pixels a frame. */
  readonly step: number
}

/**
 * Scrolls a list and answers the share of long frames, of 240 scrolled and of 240 at rest. Both take turns, so that
 * other work on the machine falls on both.
 */
const framesOf = async (page: Page, { name, selector, step }: Scrolled) => {
  const { idle, scrolled } = await page.evaluate(
    async ({ selector, step }) => {
      const list = document.querySelector(selector)
      if (list === null) throw new Error("the page has no list")
      const stretch = async (by: number) => {
        const took: Array<number> = []
        let before = await new Promise<number>(requestAnimationFrame)
        for (let frame = 0; frame < 60; frame++) {
          list.scrollTop += by
          const now = await new Promise<number>(requestAnimationFrame)
          took.push(now - before)
          before = now
        }
        return took
      }
      list.scrollTop = 0
      const idle: Array<number> = []
      const scrolled: Array<number> = []
      for (let turn = 0; turn < 4; turn++) {
        idle.push(...(await stretch(0)))
        scrolled.push(...(await stretch(turn % 2 === 0 ? step : -step)))
        if (turn % 2 === 0 && list.scrollTop === 0) throw new Error("the list did not scroll")
      }
      return { idle, scrolled }
    },
    { selector, step }
  )
  const shareOfLong = (frames: ReadonlyArray<number>) =>
    frames.filter((ms) => ms > LONG_FRAME_MS).length / frames.length
  const [longIdle, longScrolled] = [shareOfLong(idle), shareOfLong(scrolled)]
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`
  process.stdout.write(`${name}: ${percent(longScrolled)} of the frames were long, ${percent(longIdle)} idle\n`)
  return { longIdle, longScrolled }
}

/** Fails unless a list is scrolled through without dropping frames. */
export const scrollsSmoothly = async (page: Page, list: Scrolled) => {
  const added: Array<number> = []
  for (let tried = 0; tried < TRIES; tried++) {
    const { longIdle, longScrolled } = await framesOf(page, list)
    if (longScrolled - longIdle < MOST_DROPPED) return
    added.push(longScrolled - longIdle)
  }
  assert.fail(`${list.name}: scrolling added these shares of long frames, each time too many: ${added.join(", ")}`)
}

/** Work that the length of a run may add to a frame while the index is dragged, milliseconds. */
const MOST_ADDED_MS = 50
const STEPS = 40

/** Drags the slider of a run through all of it, and answers the work of a frame, milliseconds (p95). */
const scrubbedWork = async (page: Page): Promise<number> => {
  const devtools = await page.context().newCDPSession(page)
  // The work of the page itself, without other load of the processor.
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" })
  const worked = async () => {
    const { metrics } = await devtools.send("Performance.getMetrics")
    return 1_000 * (metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN)
  }
  const took: Array<number> = []
  for (let step = 1; step <= STEPS; step++) {
    const before = await worked()
    await page.getByLabel("Index in the run").evaluate(async (slider: HTMLInputElement, share) => {
      const setValue = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set
      setValue?.call(slider, String(Math.round(1 + (Number(slider.max) - 2) * share)))
      slider.dispatchEvent(new Event("input", { bubbles: true }))
      // The second frame has drawn what the first one began.
      await new Promise(requestAnimationFrame)
      await new Promise(requestAnimationFrame)
    }, step / STEPS)
    took.push((await worked()) - before)
  }
  await devtools.detach()
  return took.toSorted((one, other) => one - other)[Math.floor(0.95 * STEPS) - 1] ?? Number.NaN
}

/** Fails unless a long run adds less than 50 ms of work to a frame (p95) of a short run, while its index is dragged. */
export const scrubsSmoothly = async (page: Page, short: Page) => {
  const tries: Array<string> = []
  for (let tried = 0; tried < TRIES; tried++) {
    const [long, usual] = [await scrubbedWork(page), await scrubbedWork(short)]
    tries.push(`${long.toFixed(1)} ms, ${usual.toFixed(1)} ms in a short run`)
    process.stdout.write(`scrubbing, work of a frame (p95): ${tries.at(-1)}\n`)
    if (long - usual < MOST_ADDED_MS) return
  }
  assert.fail(`scrubbing, work of a frame (p95), each time too much: ${tries.join("; ")}`)
}
