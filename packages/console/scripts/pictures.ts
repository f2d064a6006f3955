// Takes the pictures of the README from a running stack, so that they can be taken again:
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
const PATIENCE_MS = 30_000
/** What moves in a page has come to rest by then. */
const REST_MS = 1_500

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
  // It may run as root, who has no sandbox, and where /dev/shm is small.
  args: ["--no-sandbox", "--disable-dev-shm-usage"]
})
try {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" })
  context.setDefaultTimeout(PATIENCE_MS)
  if (key !== undefined) await context.addInitScript((given) => sessionStorage.setItem("runplane.key", given), key)
  const page = await context.newPage()
  mkdirSync(FOLDER, { recursive: true })
  for (const [name, path] of [
    ["overview", "/overview?window=1h"],
    ["run", `/runs/${run.id}`]
  ] as const) {
    await page.goto(`${address}/console${path}`)
    await page.locator("h1").first().waitFor()
    await page.waitForFunction(() => document.querySelector(".skeleton") === null)
    await page.waitForTimeout(REST_MS)
    await page.screenshot({ path: `${FOLDER}${name}.png` })
    process.stdout.write(`${FOLDER}${name}.png\n`)
  }
} finally {
  await browser.close()
}
