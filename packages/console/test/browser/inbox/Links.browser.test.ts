import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { buffer } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { Page, Request } from "playwright-core"
import { SMTPServer } from "smtp-server"
import { looksRight } from "../Looks.ts"
import { ask, CONTROL_PLANE, LAUNCHER, openPage, PATIENCE_MS, startStackWith, tearDown } from "../Stage.ts"

const PACKS = fileURLToPath(new URL("../../../../../packs/", import.meta.url))
const SCENARIO = "incident/night-failover@1.0.0"
/** How often the way from the link to the answer is timed. */
const TIMED = Number(process.env["CONSOLE_LINK_RUNS"] ?? 3)

const folder = mkdtempSync(join(tmpdir(), "runplane-console-links-"))
const mails: Array<{ readonly to: string; readonly text: string }> = []
const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ["STARTTLS"],
  logger: false,
  onData: (stream, session, done) => {
    buffer(stream).then((bytes) => {
      const text = bytes.toString("utf8").replaceAll("=\r\n", "")
      for (const { address } of session.envelope.rcptTo) mails.push({ to: address, text })
      done()
    }, done)
  }
})

beforeAll(async () => {
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening))
  const { port }: Pick<AddressInfo, "port"> = Object(server.server.address())
  cpSync(PACKS, folder, { recursive: true })
  writeFileSync(
    join(folder, "incident/people.yaml"),
    "people:\n  dora: { groups: [duty-officers], link: personal, email: dora@example.org, code: dora@example.net }\n"
  )
  const file = join(folder, "incident/scenarios/night-failover/1.0.0/scenario.yaml")
  writeFileSync(file, readFileSync(file, "utf8").replace("reason: required", "reason: optional"))
  await startStackWith({
    PACKS_DIR: folder,
    LAUNCHER_SMTP_URL: `smtp://127.0.0.1:${port}`,
    LAUNCHER_SMTP_FROM: "runplane@example.org",
    LAUNCHER_PUBLIC_URL: LAUNCHER
  })
})

afterAll(async () => {
  await tearDown()
  await new Promise<void>((closed) => server.close(() => closed()))
  rmSync(folder, { recursive: true, force: true })
})

/** The first mail to an address after so many mails that has such a text. */
const mailWith = async (to: string, pattern: RegExp, after: number): Promise<string> => {
  for (const until = Date.now() + PATIENCE_MS; Date.now() < until; ) {
    for (const mail of mails.slice(after)) {
      const found = mail.to === to ? pattern.exec(mail.text)?.[1] : undefined
      if (found !== undefined) return found
    }
    await new Promise((next) => setTimeout(next, 5))
  }
  throw new Error(`no mail to ${to} with ${pattern}`)
}

/** Launches the example, and returns its run and the link of Dora. */
const question = async () => {
  const after = mails.length
  const body = { scenarioRef: SCENARIO, inputs: {}, bootstrapAgents: true }
  const launched = await ask("POST", `${LAUNCHER}/examples/run`, body)
  assert.strictEqual(launched.status, 201, launched.text)
  const link = await mailWith("dora@example.org", /^(http:\S+\/inbox\/link#[\w-]{43})\r?$/m, after)
  return { run: String(launched.body.controlPlaneRun.runId), link, token: link.slice(link.indexOf("#") + 1) }
}

const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name })
const steady = (page: Page) => page.locator("[data-steady=true]").waitFor()

/** Chooses to approve, requests a code, types it, and confirms. */
const approve = async (page: Page) => {
  const after = mails.length
  await steady(page)
  await button(page, /^Approve/).click()
  await button(page, "Send me a code").click()
  const code = await mailWith("dora@example.net", /^Subject: Code (\d{6})\r?$/m, after)
  await page.getByRole("textbox", { name: "Code, six digits" }).fill(code)
  await steady(page)
  await button(page, /^Approve [0-9a-f]{8}$/).click()
  await page.getByText("on its way into the session").waitFor()
  return code
}

// docs/reference/people.md#links
describe("the page of a personal link", () => {
  it("answers with a code on a phone, and has its token in no address and in no referrer", async () => {
    const { link, run, token } = await question()
    const { context, misdeeds, page } = await openPage({ signedIn: false, width: 390, origin: LAUNCHER })
    const sent: Array<Request> = []
    page.on("request", (request) => sent.push(request))
    await page.goto(link)
    await page.getByText("The link of dora").waitFor()
    await steady(page)
    await looksRight(page, "link", [390])
    await button(page, /^Approve/).click()
    await page.getByText("A code is sent to d…@example.net").waitFor()
    await steady(page)
    await button(page, /^Approve [0-9a-f]{8}$/).click()
    await page.getByRole("alert").getByText("Write the six digits of the code first.").waitFor()
    await looksRight(page, "link-code", [390])
    await button(page, "Send me a code").click()
    await page.getByText("A code was sent to d…@example.net").waitFor()
    const right = await mailWith("dora@example.net", /^Subject: Code (\d{6})\r?$/m, 0)
    const field = page.getByRole("textbox", { name: "Code, six digits" })
    await field.fill(String((Number(right) + 1) % 1_000_000).padStart(6, "0"))
    await steady(page)
    await button(page, /^Approve [0-9a-f]{8}$/).click()
    await page.getByRole("alert").getByText("The code is wrong; 4 more wrong ones end the link.").waitFor()
    await looksRight(page, "link-wrong-code", [390])
    await field.fill(right)
    await steady(page)
    await button(page, /^Approve [0-9a-f]{8}$/).click()
    await page.getByText("on its way into the session").waitFor()
    await page.getByText("by a personal link, the weakest proof: without a sign-in").waitFor()
    await looksRight(page, "link-answered", [390])

    assert.isAbove(sent.length, 5)
    for (const request of sent) {
      const headers = JSON.stringify(await request.allHeaders())
      // The browser keeps what is behind # from every server; the driver shows it in the first address alone.
      if (!request.isNavigationRequest()) assert.notInclude(request.url(), token)
      assert.notInclude(headers, token, request.url())
      assert.notProperty(await request.allHeaders(), "referer", request.url())
      const body = request.postData() ?? ""
      assert.strictEqual(body.includes(token), /\/inbox\/link\/(read|code|answer)$/.test(request.url()), request.url())
    }
    assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })

    // The link is over.
    await page.reload()
    await page.getByText("The link is over: your answer is stored.").waitFor()
    await looksRight(page, "link-over", [390])
    await context.close()

    const ended = await ask("GET", `${CONTROL_PLANE}/runs/${run}?wait=terminal&timeoutMs=60000`)
    assert.strictEqual(ended.body.status, "completed", ended.text)
    const { body: artifacts } = await ask("GET", `${CONTROL_PLANE}/runs/${run}/artifacts`)
    const { inline } = artifacts.find(({ kind }: { readonly kind: string }) => kind === "people.answer")
    assert.deepInclude(inline, { person: "dora", proof: "link", channel: "link" })
    const why = await ask("GET", `${CONTROL_PLANE}/runs/${run}/decision/why`)
    assert.include(why.text, "by a personal link, the weakest proof")
  })

  it("takes its time from the link to the answer, and says it", async () => {
    const times: Array<number> = []
    for (let run = 0; run < TIMED; run += 1) {
      const { link } = await question()
      const { context, page } = await openPage({ signedIn: false, width: 390, origin: LAUNCHER })
      const begun = performance.now()
      await page.goto(link)
      await approve(page)
      times.push(performance.now() - begun)
      await context.close()
    }
    const sorted = times.toSorted((one, other) => one - other)
    const median = sorted[Math.floor(sorted.length / 2)] ?? 0
    process.stdout.write(
      `link to answer at 390 px: median ${Math.round(median)} ms of ${times.length}, ` +
        `${Math.round(sorted[0] ?? 0)} to ${Math.round(sorted.at(-1) ?? 0)} ms\n`
    )
    assert.isBelow(median, PATIENCE_MS)
  })
})
