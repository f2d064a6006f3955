import { assert } from "@effect/vitest"
import type { Page } from "playwright-core"
import { picture, violationsOf } from "./Stage.ts"

const THEMES = ["light", "dark"] as const

/**
 * Fails when axe finds a violation, or the page scrolls sideways, in a theme or on a screen; keeps a screenshot of
 * each. The page stays loaded, since loading it for each would take most of the time.
 */
export const looksRight = async (page: Page, name: string, widths: ReadonlyArray<number> = [1280, 390]) => {
  for (const theme of THEMES) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" })
    await page.locator(`html[data-theme="${theme}"]`).waitFor({ state: "attached" })
    for (const width of widths) {
      await page.setViewportSize({ width, height: width < 500 ? 844 : 800 })
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
      await picture(page, `${name}-${width}-${theme}`)
      const shown = `${name} ${theme} ${width}`
      assert.deepStrictEqual(await violationsOf(page), [], shown)
      const isWider = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth)
      assert.isFalse(isWider, shown)
    }
  }
}
