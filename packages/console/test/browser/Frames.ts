import { assert } from "@effect/vitest"
import type { Page } from "playwright-core"

/** A frame that took longer was seen to be dropped: three of those of a screen. */
const LONG_FRAME_MS = 50
/** Share of long frames that scrolling may add to those of the same page at rest. */
const MOST_DROPPED = 0.2
/** Work of the page for one frame at 60 frames a second. Milliseconds of the processor, without other programs. */
const FRAME_MS = 1_000 / 60
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
 * Scrolls a list, and answers the share of long frames, of 240 scrolled and of 240 at rest, and the work of the page
 * for a scrolled frame. Both take turns, so that other work on the machine falls on both.
 */
const framesOf = async (page: Page, { name, selector, step }: Scrolled) => {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" })
  const worked = async () => {
    const { metrics } = await devtools.send("Performance.getMetrics")
    return 1_000 * (metrics.find((metric) => metric.name === "TaskDuration")?.value ?? Number.NaN)
  }
  const stretch = async (by: number) => {
    const before = await worked()
    const took = await page.evaluate(
      async ({ by, selector }) => {
        const list = document.querySelector(selector)
        if (list === null) throw new Error("the page has no list")
        const start = list.scrollTop
        const took: Array<number> = []
        let before = await new Promise<number>(requestAnimationFrame)
        for (let frame = 0; frame < 60; frame++) {
          list.scrollTop += by
          const now = await new Promise<number>(requestAnimationFrame)
          took.push(now - before)
          before = now
        }
        if (by !== 0 && list.scrollTop === start) throw new Error("the list did not scroll")
        return took
      },
      { by, selector }
    )
    return { took, work: (await worked()) - before }
  }
  await page.locator(selector).evaluate((list) => {
    list.scrollTop = 0
  })
  const idle: Array<number> = []
  const scrolled: Array<number> = []
  let work = 0
  for (let turn = 0; turn < 4; turn++) {
    idle.push(...(await stretch(0)).took)
    const moved = await stretch(turn % 2 === 0 ? step : -step)
    scrolled.push(...moved.took)
    work += moved.work
  }
  await devtools.detach()
  const shareOfLong = (frames: ReadonlyArray<number>) =>
    frames.filter((ms) => ms > LONG_FRAME_MS).length / frames.length
  const [longIdle, longScrolled] = [shareOfLong(idle), shareOfLong(scrolled)]
  const workMs = work / scrolled.length
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`
  process.stdout.write(
    `${name}: ${percent(longScrolled)} of the frames were long, ${percent(longIdle)} idle; ` +
      `${workMs.toFixed(1)} ms of work for a scrolled frame\n`
  )
  return { added: longScrolled - longIdle, workMs }
}

/**
 * Fails unless a list is scrolled through without dropping frames. Frames that are long although the work of the page
 * fits into a frame are those of a busy machine.
 */
export const scrollsSmoothly = async (page: Page, list: Scrolled) => {
  const found: Array<string> = []
  for (let tried = 0; tried < TRIES; tried++) {
    const { added, workMs } = await framesOf(page, list)
    if (added < MOST_DROPPED || workMs < FRAME_MS) return
    found.push(`${added} with ${workMs} ms of work a frame`)
  }
  assert.fail(`${list.name}: scrolling added these shares of long frames, each time too many: ${found.join(", ")}`)
}

/** Most work of a frame while the index is dragged, milliseconds. */
const MOST_WORK_MS = 50
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

/**
 * Fails unless a run is scrubbed with at most 50 ms of work for a frame. On a machine with other work every frame takes
 * longer: that of a short run is allowed as well.
 */
export const scrubsSmoothly = async (page: Page, short: Page) => {
  const tries: Array<string> = []
  for (let tried = 0; tried < TRIES; tried++) {
    const [long, usual] = [await scrubbedWork(page), await scrubbedWork(short)]
    tries.push(`${long.toFixed(1)} ms, ${usual.toFixed(1)} ms in a short run`)
    if (long < MOST_WORK_MS || long - usual < MOST_WORK_MS) break
    if (tried === TRIES - 1) assert.fail(`scrubbing, work of a frame (p95), each time too much: ${tries.join("; ")}`)
  }
  process.stdout.write(`scrubbing, work of a frame (p95): ${tries.at(-1)}\n`)
}
