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
