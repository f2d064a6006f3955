// Takes the pictures of the README from a running stack:
//
//   npm start                                  # in another terminal; launch a few scenarios
//   CONSOLE_CHROMIUM=/usr/bin/chromium node packages/console/scripts/pictures.ts
//
// An address as the first argument names another control plane, RUNPLANE_API_KEY its key.
import { mkdirSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as Schema from "effect/Schema"
import { chromium } from "playwright-core"

const FOLDER = fileURLToPath(new URL("../../../docs/pictures/", import.meta.url))
const TIMEOUT_MS = 30_000
/** The animations of a page end within this time. */
const SETTLE_MS = 1_500

const address = process.argv[2] ?? "http://127.0.0.1:3001"
const key = process.env["RUNPLANE_API_KEY"]

const answer = await fetch(`${address}/runs?status=completed&search=region-failover&limit=1`, {
  headers: key === undefined ? {} : { authorization: `Bearer ${key}` }
})
if (!answer.ok) throw new Error(`${address}/runs was answered with ${answer.status}`)
const Runs = Schema.Struct({ data: Schema.Array(Schema.Struct({ id: Schema.String })) })
const [run] = Schema.decodeUnknownSync(Runs)(await answer.json()).data
if (run === undefined) throw new Error(`${address} has no completed run of incident/region-failover yet; launch one`)

const browser = await chromium.launch({
  executablePath: process.env["CONSOLE_CHROMIUM"] ?? "/usr/bin/chromium",
  // Chromium has no sandbox as root, and /dev/shm can be small.
  args: ["--no-sandbox", "--disable-dev-shm-usage"]
})
try {
  const context = await browser.newContext({ viewport: { width: 1280, height: 1700 }, reducedMotion: "reduce" })
  context.setDefaultTimeout(TIMEOUT_MS)
  if (key !== undefined) await context.addInitScript((given) => sessionStorage.setItem("runplane.key", given), key)
  const page = await context.newPage()
  mkdirSync(FOLDER, { recursive: true })
  for (const { clip, name, path, tab } of [
    { name: "operations", path: "/operations", tab: undefined, clip: { x: 0, y: 0, width: 1280, height: 556 } },
    { name: "policy", path: `/runs/${run.id}`, tab: "Policy", clip: { x: 420, y: 72, width: 860, height: 1010 } }
  ]) {
    await page.goto(`${address}/console${path}`)
    await page.locator("h1").first().waitFor()
    if (tab !== undefined) await page.getByRole("tab", { name: tab }).click()
    await page.waitForFunction(() => document.querySelector(".skeleton") === null)
    await page.waitForTimeout(SETTLE_MS)
    await page.screenshot({ path: `${FOLDER}${name}.png`, clip })
    process.stdout.write(`${FOLDER}${name}.png\n`)
  }
} finally {
  await browser.close()
}
