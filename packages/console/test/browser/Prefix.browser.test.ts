import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { freePorts } from "@runplane/testing"
import * as Effect from "effect/Effect"
import type { Page } from "playwright-core"
import { type Nginx, startNginx } from "./proxies/Nginx.ts"
import {
  CONTROL_PLANE,
  completedExample,
  KEY,
  LAUNCHER,
  light,
  openPage,
  picture,
  startStackWith,
  tearDown
} from "./Stage.ts"

const DOCUMENT = fileURLToPath(new URL("../../../../docs/reference/deploy.md", import.meta.url))
const COMMAND_LINE = fileURLToPath(new URL("../../../cli/src/main.ts", import.meta.url))
const run = promisify(execFile)

const [port = 0] = await Effect.runPromise(freePorts(1))
const PROXY = `http://127.0.0.1:${port}`
/** The locations of docs/reference/deploy.md, with the services where they are. */
const documented = (/^ {4}location .*?\n(?=\S)/ms.exec(readFileSync(DOCUMENT, "utf8"))?.[0] ?? "")
  .replaceAll("http://127.0.0.1:3001", CONTROL_PLANE)
  .replaceAll("http://127.0.0.1:3000", LAUNCHER)

/** One proxy takes the path off, the other leaves it in. */
const PREFIXES = ["/runplane", "/kept"]

let nginx: Nginx | undefined
let id = ""

beforeAll(async () => {
  await startStackWith({
    // The documents are served in development only.
    NODE_ENV: "development",
    PUBLIC_BASE_PATH: "/kept",
    LAUNCHER_PUBLIC_URL: `${PROXY}/runplane-launch/`,
    CONTROL_PLANE_PUBLIC_URL: `${PROXY}/runplane/`
  })
  nginx = await startNginx(
    port,
    `${documented}
    location /kept { proxy_pass ${CONTROL_PLANE}; proxy_set_header Host $http_host; }`
  )
  id = await completedExample()
})
afterAll(async () => {
  await nginx?.stop()
  await tearDown()
})

const headers = { authorization: `Bearer ${KEY}`, "x-api-key": KEY }

/** All requests of a page; each is below the path of the proxy. */
const requestsOf = (page: Page) => {
  const paths: string[] = []
  const failures: string[] = []
  page.on("request", (sent) => paths.push(new URL(sent.url()).pathname))
  page.on("response", (answer) => {
    if (answer.status() >= 400) failures.push(`${answer.status()} ${answer.url()}`)
  })
  return { paths, failures }
}

describe.each(PREFIXES)("below %s of nginx", (prefix) => {
  it("a browser is led to the console, whose pages, files, calls and streams are there", async () => {
    const { context, misdeeds, page } = await openPage({ origin: PROXY, storedKey: `runplane.key${prefix}` })
    const { failures, paths } = requestsOf(page)
    await page.goto(`${PROXY}${prefix}/`)
    await page.waitForURL(`${PROXY}${prefix}/console/overview`)
    await page.locator('[data-kpi="total"]').waitFor()
    await picture(page, `prefix${prefix.replace("/", "-")}-overview`)
    await page.getByRole("link", { name: "Runs" }).first().click()
    await page.waitForURL(`${PROXY}${prefix}/console/runs`)
    await page.locator(`a[href="${prefix}/console/runs/${id}"]`).waitFor()

    // A link into the console, which a browser opens anew.
    await page.goto(`${PROXY}${prefix}/console/runs/${id}`)
    await light(page, "complete")
    await page.getByText("opens the session").first().waitFor()
    await picture(page, `prefix${prefix.replace("/", "-")}-run`)
    await page.goto(`${PROXY}${prefix}/console/launch`)
    await page.getByText("region-failover").first().waitFor()
    await picture(page, `prefix${prefix.replace("/", "-")}-launch`)
    assert.deepStrictEqual(
      paths.filter((path) => !path.startsWith(`${prefix}/`) && !path.startsWith("/runplane-launch/")),
      []
    )
    assert.deepStrictEqual(failures, [])
    assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
    await context.close()
  })

  it("the page of the API calls the service where it is", async () => {
    const { context, page } = await openPage({ origin: PROXY, storedKey: `runplane.key${prefix}` })
    await page.goto(`${PROXY}${prefix}/docs`)
    await page.locator('.opblock-summary-path[data-path="/healthz"]').click()
    await page.getByRole("button", { name: "Try it out" }).first().click()
    const [answer] = await Promise.all([
      page.waitForResponse((response) => response.request().resourceType() === "fetch"),
      page.getByRole("button", { name: "Execute" }).first().click()
    ])
    assert.strictEqual(answer.url(), `${PROXY}${prefix}/healthz`)
    assert.strictEqual(answer.status(), 200)
    await picture(page, `prefix${prefix.replace("/", "-")}-docs`)
    await context.close()
  })

  it("redirects, links and addresses in answers lead to the service", async () => {
    const to = async (path: string, accept = "text/html") =>
      (await fetch(`${PROXY}${prefix}${path}`, { headers: { ...headers, accept }, redirect: "follow" })).url
    for (const path of ["", "/"]) assert.strictEqual(await to(path), `${PROXY}${prefix}/console/`)
    assert.strictEqual(await to("/console"), `${PROXY}${prefix}/console/`)
    const { links } = await (await fetch(`${PROXY}${prefix}/`)).json()
    for (const [name, link] of Object.entries(links)) {
      const answer = await fetch(new URL(String(link), `${PROXY}${prefix}/`), { headers })
      assert.strictEqual(answer.status, 200, name)
    }
    const { servers } = await (await fetch(`${PROXY}${prefix}/docs-json`)).json()
    assert.strictEqual(new URL(servers[0].url, `${PROXY}${prefix}/docs-json`).href, `${PROXY}${prefix}/`)

    const ticket = await fetch(`${PROXY}${prefix}/runs/${id}/stream-tickets`, { method: "POST", headers })
    const { streamUrl } = await ticket.json()
    const stream = await fetch(`${PROXY}${prefix}${streamUrl}`)
    assert.strictEqual(stream.headers.get("content-type")?.split(";")[0], "text/event-stream")
    await stream.body?.cancel()
  })

  it("the command line reads and follows runs by an address with a path", async () => {
    const env = { ...process.env, RUNPLANE_URL: `${PROXY}${prefix}/`, RUNPLANE_API_KEY: KEY }
    const outputOf = async (command: string) =>
      (await run(process.execPath, [COMMAND_LINE, "runs", command, id], { env })).stdout
    assert.include(await outputOf("show"), "incident/region-failover@1.0.0")
    assert.include(await outputOf("watch"), "incident-commander")
  })
})

it("a launched run names the addresses of the proxy", async () => {
  const answer = await fetch(`${PROXY}/runplane-launch/examples/run`, {
    method: "POST",
    headers: { "x-api-key": KEY, "content-type": "application/json" },
    body: JSON.stringify({ scenarioRef: "incident/region-failover@1.0.0", inputs: {} })
  })
  const { controlPlaneRun, links } = await answer.json()
  assert.deepStrictEqual(links, {
    run: `${PROXY}/runplane/runs/${controlPlaneRun.runId}`,
    page: `${PROXY}/runplane/console/runs/${controlPlaneRun.runId}`
  })
  assert.strictEqual((await fetch(links.run, { headers })).status, 200)
  assert.strictEqual((await fetch(links.page)).status, 200)
})
