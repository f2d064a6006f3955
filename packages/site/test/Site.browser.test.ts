import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs"
import { createServer } from "node:http"
import { extname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Arr from "effect/Array"
import * as Schema from "effect/Schema"
import { type Browser, chromium, type Page } from "playwright-core"

const SITE = fileURLToPath(new URL("../dist/", import.meta.url))
const SCREENSHOTS = fileURLToPath(new URL("../screenshots/", import.meta.url))
const INDEX = fileURLToPath(new URL("../../../docs/README.md", import.meta.url))
/** The path that the site was built for. */
const BASE = process.env["SITE_BASE"] ?? ""

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css",
  ".js": "text/javascript",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".json": "application/json",
  ".wasm": "application/wasm"
}

/** As any web server does: the file, or the index of the folder. */
const server = createServer((request, response) => {
  const path = join(SITE, decodeURI(new URL(request.url ?? "/", "http://site").pathname))
  const file = existsSync(path) && statSync(path).isDirectory() ? join(path, "index.html") : path
  if (!existsSync(file)) {
    response.writeHead(404).end()
    return
  }
  response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" })
  response.end(readFileSync(file))
})

let browser: Browser | undefined
let origin = ""
/** What no page may do: messages of the console, failed answers, requests to other hosts. */
let faults: Array<string> = []

beforeAll(async () => {
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening))
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("the server has no port")
  origin = `http://127.0.0.1:${address.port}`
  browser = await chromium.launch({ executablePath: process.env["CONSOLE_CHROMIUM"] ?? "", args: ["--no-sandbox"] })
})
afterAll(async () => {
  await browser?.close()
  server.close()
})
afterEach(() => {
  const found = faults
  faults = []
  assert.deepStrictEqual(found, [])
})

const withPage = async (
  path: string,
  use: (page: Page) => Promise<void>,
  options: { readonly colorScheme?: "light" | "dark"; readonly width?: number } = {}
) => {
  const { colorScheme = "light", width = 1440 } = options
  const context = await browser!.newContext({ colorScheme, viewport: { width, height: width < 500 ? 844 : 900 } })
  try {
    const page = await context.newPage()
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) faults.push(`${path}: ${message.text()}`)
    })
    page.on("pageerror", (error) => faults.push(`${path}: ${error.message}`))
    page.on("request", (request) => {
      if (!request.url().startsWith(`${origin}/`) && !request.url().startsWith("data:")) faults.push(request.url())
    })
    page.on("response", (response) => {
      if (response.status() >= 400) faults.push(`${response.status()} ${response.url()}`)
    })
    await page.goto(`${origin}${BASE}${path}`, { waitUntil: "networkidle" })
    await use(page)
  } finally {
    await context.close()
  }
}

/** Pages with pictures, wide tables, long lines of code, and an operation with large schemas. */
const LOOKS = {
  first: "/",
  documents: "/documents/",
  guide: "/guides/follow/",
  settings: "/reference/settings/",
  errors: "/reference/errors/",
  scale: "/internals/scale/",
  operation: "/api/control-plane/operations/createrun/"
}

const OpenApi = Schema.fromJsonString(
  Schema.Struct({
    paths: Schema.Record(Schema.String, Schema.Record(Schema.String, Schema.Struct({ operationId: Schema.String })))
  })
)

const operationsOf = (service: string) => {
  const file = fileURLToPath(new URL(`../../api/openapi/${service}.json`, import.meta.url))
  const { paths } = Schema.decodeUnknownSync(OpenApi)(readFileSync(file, "utf8"))
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => ({ id: operationId, method, path }))
  )
  assert(Arr.isArrayNonEmpty(operations))
  return operations
}

describe("the site of the documents", () => {
  it("begins with the README and its pictures", () =>
    withPage("/", async (page) => {
      await page.locator("h1", { hasText: /^Runplane$/ }).waitFor()
      const widths = await page.locator("main img").evaluateAll((images) =>
        Promise.all(
          images.map(async (image) => {
            if (!(image instanceof HTMLImageElement)) return 0
            image.loading = "eager"
            await image.decode()
            return image.naturalWidth
          })
        )
      )
      assert.lengthOf(widths, 3)
      for (const width of widths) assert.isAbove(width, 500)
    }))

  it("lists the pages of the index in the order of its shelves", () =>
    withPage("/", async (page) => {
      const items = readFileSync(INDEX, "utf8").matchAll(/^- \[(.+?)\]\((?:guides|reference|internals)\//gm)
      const listed = Array.from(items, ([, label]) => label)
      // A group is closed at first, and its links are not visible.
      const links = page.locator("nav.sidebar a:not([href*='/api/'])")
      const shown = (await links.allTextContents()).map((label) => label.trim())
      assert.isAbove(listed.length, 50)
      assert.deepStrictEqual(
        shown.filter((label) => listed.includes(label)),
        listed
      )
    }))

  it("shows a guide with its code, and the next one", () =>
    withPage("/guides/follow/", async (page) => {
      await page.locator("h1", { hasText: "Follow a run and read its outcome" }).waitFor()
      await page.locator("main pre", { hasText: "runplane launch incident/region-failover@1.0.0" }).first().waitFor()
      await page.locator("a[rel=next]").click()
      await page.waitForURL(`${origin}${BASE}/guides/failed/`)
    }))

  it("opens an anchor of the reference, by a link of another page", () =>
    withPage("/documents/", async (page) => {
      await page.locator("main a", { hasText: "audit log" }).click()
      await page.waitForURL(`${origin}${BASE}/reference/admin/#audit`)
      await page.locator("#audit").waitFor()
      const top = await page.locator("#audit").evaluate((heading) => heading.getBoundingClientRect().top)
      assert.isAtLeast(top, 0)
      assert.isAtMost(top, 450)
    }))

  it("leads to files outside of the documents in the repository", () =>
    withPage("/documents/", async (page) => {
      const link = page.locator("main a", { hasText: "A scenario in ten minutes" })
      assert.strictEqual(
        await link.getAttribute("href"),
        "https://github.com/runplane/runplane/blob/main/packs/README.md"
      )
    }))

  it.each([
    ["tombstones", "/reference/seal/"],
    ["silence", "/api/control-plane/operations/createalertsilence/"]
  ])("finds %s by its search", (word, path) =>
    withPage("/", async (page) => {
      await page.keyboard.press("Control+k")
      await page.locator("dialog input").fill(word)
      const found = page.locator(`dialog .pagefind-ui__result-link[href^="${BASE}${path}"]`).first()
      await found.click()
      await page.waitForURL((url) => url.pathname === `${BASE}${path}`)
    })
  )

  it.each(["control-plane", "launcher"])("shows every operation of the OpenAPI document of %s", (service) =>
    withPage(`/api/${service}/`, async (page) => {
      const operations = operationsOf(service)
      for (const { id } of operations) {
        const link = page.locator(`nav.sidebar a[href="${BASE}/api/${service}/operations/${id.toLowerCase()}/"]`)
        assert.strictEqual(await link.count(), 1, id)
      }
      const [{ id, method, path }] = operations
      await page.goto(`${origin}${BASE}/api/${service}/operations/${id.toLowerCase()}/`)
      const text = await page.locator("main").textContent()
      assert.include(text?.replace(/\s+/g, ""), `${method.toUpperCase()}${path}`)
    })
  )

  it.each(["light", "dark"] as const)("is readable in the %s theme on a wide and on a narrow screen", async (theme) => {
    for (const width of [1440, 390]) {
      for (const [name, path] of Object.entries(LOOKS)) {
        await withPage(
          path,
          async (page) => {
            const shown = `${name}-${width}-${theme}`
            mkdirSync(SCREENSHOTS, { recursive: true })
            await page.screenshot({ path: join(SCREENSHOTS, `${shown}.png`) })
            assert.strictEqual(await page.locator("html").getAttribute("data-theme"), theme)
            const wider = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
            assert.isAtMost(wider, 0, `${shown}: the page scrolls sideways`)
          },
          { colorScheme: theme, width }
        )
      }
    }
  })
})
