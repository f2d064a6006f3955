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
const SCENARIO = "region-failover"
/** The animations of a page end within this time. */
const SETTLE_MS = 1_500

const address = process.argv[2] ?? "http://127.0.0.1:3001"
const key = process.env["RUNPLANE_API_KEY"]

const read = async (path: string): Promise<unknown> => {
  const answer = await fetch(`${address}${path}`, {
    headers: key === undefined ? {} : { authorization: `Bearer ${key}` }
  })
  if (!answer.ok) throw new Error(`${address}${path} was answered with ${answer.status}`)
  return answer.json()
}
const Runs = Schema.Struct({ data: Schema.Array(Schema.Struct({ id: Schema.String })) })
/** The newest run that a search finds. */
const newest = async (q: string): Promise<string> => {
  const found = Schema.decodeUnknownSync(Runs)(await read(`/runs?limit=1&q=${encodeURIComponent(q)}`)).data[0]
  if (found === undefined) throw new Error(`${address} has no run for ${q} yet; launch one`)
  return found.id
}
const [approved, declined] = await Promise.all(
  ["for", "against"].map((verdict) => newest(`${SCENARIO} outcome:${verdict}`))
)

interface Picture {
  readonly name: string
  readonly path: string
  readonly colorScheme: "light" | "dark"
  readonly width: number
  readonly height: number
  /** A region of the page; without one, what the window shows. */
  readonly region?: string
  /** The name of a button that is pressed before. */
  readonly press?: RegExp
}
const CARD = { region: "Decision card", width: 1440, height: 1000 } as const
const PICTURES: ReadonlyArray<Picture> = [
  { name: "card", path: `/runs/${declined}`, colorScheme: "light", ...CARD },
  { name: "what-if", path: `/runs/${approved}`, colorScheme: "dark", press: /try another vote$/, ...CARD },
  { name: "overview", path: "/", colorScheme: "light", width: 1280, height: 820 }
]

const browser = await chromium.launch({
  executablePath: process.env["CONSOLE_CHROMIUM"] ?? "/usr/bin/chromium",
  // Chromium has no sandbox as root, and /dev/shm can be small.
  args: ["--no-sandbox", "--disable-dev-shm-usage"]
})
try {
  mkdirSync(FOLDER, { recursive: true })
  for (const { colorScheme, height, name, path, press, region, width } of PICTURES) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme, reducedMotion: "reduce" })
    context.setDefaultTimeout(TIMEOUT_MS)
    if (key !== undefined) await context.addInitScript((given) => sessionStorage.setItem("runplane.key", given), key)
    const page = await context.newPage()
    await page.goto(`${address}/console${path}`)
    await page.locator("h1").first().waitFor()
    await page.waitForFunction(() => document.querySelector(".skeleton") === null)
    if (press !== undefined) await page.getByRole("button", { name: press }).first().click()
    await page.waitForTimeout(SETTLE_MS)
    const file = `${FOLDER}${name}.png`
    if (region === undefined) await page.screenshot({ path: file })
    else await page.getByRole("region", { name: region }).screenshot({ path: file })
    process.stdout.write(`${file}\n`)
    await context.close()
  }
} finally {
  await browser.close()
}
