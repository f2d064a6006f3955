import { afterAll, assert, beforeAll, describe, it, vi } from "@effect/vitest"
import type { Page } from "playwright-core"
import { looksRight } from "./Looks.ts"
import {
  ask,
  CONTROL_PLANE,
  go,
  KEY,
  LAUNCHER,
  launchExample,
  light,
  openPage,
  picture,
  startStack,
  tearDown,
  tokenFor,
  violationsOf,
  waitingRun
} from "./Stage.ts"
import { followed, ticketFor } from "./Tickets.ts"

const AGREE_MS = 10_000

let decided = ""

beforeAll(startStack)
afterAll(tearDown)

/** Late signals may still follow the end of a run, so both are read until they agree. */
const lightCountsAll = (page: Page, runId: string) =>
  vi.waitFor(async () => {
    const { lastEventIndex } = (await ask("GET", `${CONTROL_PLANE}/runs/${runId}`)).body
    const counted = page.locator("[data-light]").getByText(`Complete · ${lastEventIndex} events`)
    assert.isAbove(await counted.locator("visible=true").count(), 0)
  }, AGREE_MS)

const stateOf = async (id: string) => (await ask("GET", `${CONTROL_PLANE}/runs/${id}/state`)).body

describe("the console in a browser", () => {
  it("requires a key, refuses a wrong one, and accepts a right one", async () => {
    const { context, misdeeds, page } = await openPage({ signedIn: false })
    await go(page, "/runs")
    await page.getByText("Sign in to Runplane").waitFor()
    await picture(page, "sign-in-1280-light")
    assert.deepStrictEqual(await violationsOf(page), [])
    await page.getByLabel("API key").fill("wrong")
    await page.keyboard.press("Enter")
    await page.getByRole("alert").getByText("Invalid authorization token").waitFor()
    await page.getByLabel("API key").fill(KEY)
    await page.keyboard.press("Enter")
    await page.getByText("No runs yet").waitFor()
    await page.reload()
    await page.getByText("No runs yet").waitFor()
    // Another tab of the browser receives the key from this one, and both are signed out together.
    const other = await context.newPage()
    await go(other, "/runs")
    await other.getByText("No runs yet").waitFor()
    await other.getByRole("button", { name: "Sign out" }).click()
    await page.getByText("Sign in to Runplane").waitFor()
    assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
    await context.close()
  })

  it("takes a token of the company's sign-on, shows the user, and requires a new one when it has expired", async () => {
    const { context, misdeeds, page } = await openPage({ signedIn: false })
    const signIn = async (seconds: number) => {
      await page.getByLabel("API key").fill(tokenFor(seconds))
      await page.keyboard.press("Enter")
    }
    await go(page, "/audit?q=outcome%3Arefused")
    await page.getByText("Sign in to Runplane").waitFor()
    await signIn(600)
    await page.locator("[data-me]").getByText("user:ann").waitFor()
    assert.include((await page.locator("[data-me]").textContent()) ?? "", "operator")
    // The token goes by while the page is in use; its clock may be a minute off.
    await page.evaluate((token) => sessionStorage.setItem("runplane.key", token), tokenFor(-120))
    await page.reload()
    await page.getByText("Sign in to Runplane").waitFor()
    await page.getByRole("alert").getByText("it has expired").waitFor()
    await picture(page, "sign-in-expired-1280-light")
    assert.deepStrictEqual(await violationsOf(page), [])
    await signIn(600)
    await page.locator("[data-me]").getByText("user:ann").waitFor()
    assert.include(page.url(), "/audit?q=outcome%3Arefused")
    await page.getByRole("button", { name: "Sign out" }).click()
    await page.getByText("Sign in to Runplane").waitFor()
    assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
    await context.close()
  })

  it("shows a run live from its first event to its decision, and proves that it has every event", async () => {
    const { context, misdeeds, page } = await openPage()
    await go(page, "/runs")
    await page.getByText("No runs yet").waitFor()
    const launched = launchExample()
    // It appears without a reload, and is watched while its agents send messages.
    await page.locator("[data-row='0'] a").click()
    await page.locator("[data-index]").first().waitFor()
    decided = await launched
    await light(page, "complete")
    await lightCountsAll(page, decided)
    const { decision, llm, participants, run } = await stateOf(decided)
    const card = page.getByRole("region", { name: "Decision card" })
    await card.getByRole("heading", { name: run.intent, exact: true }).waitFor()
    await page.getByText(decision.current.reasons[0]).first().waitFor()
    await page.getByText(decision.current.prompt).first().waitFor()
    await page.locator("header [data-status='completed']").waitFor()
    for (const { participantId } of participants) await page.getByText(participantId).first().waitFor()
    const tokens = llm.totals.totalTokens.toLocaleString("en-US")
    await page
      .getByText(new RegExp(`· ${tokens} tokens`))
      .first()
      .waitFor()
    assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
    await context.close()
  })

  it("lists the runs as the API has them", async () => {
    const { context, page } = await openPage()
    await go(page, "/runs?columns=events,participants,status")
    const [run] = (await ask("GET", `${CONTROL_PLANE}/runs?limit=1&include=participants,decision`)).body.data
    const row = page.locator("[data-row='0']")
    await row.waitFor()
    const text = await row.textContent()
    assert.include(text ?? "", run.sourceRef)
    assert.include(text ?? "", String(run.lastEventIndex))
    assert.include(text ?? "", run.intent)
    assert.include(text ?? "", run.decision.word)
    const { heads } = run.decision
    assert.include(text ?? "", `${heads.for} : ${heads.against}`)
    const titles = await page.getByRole("columnheader").allTextContents()
    const agents = row.getByRole("cell").nth(titles.indexOf("Agents"))
    assert.strictEqual(await agents.textContent(), String(run.participantCount))
    assert.isAbove(run.participantCount, 0)
    assert.strictEqual(await row.locator("[data-status]").getAttribute("data-status"), run.status)
    await context.close()
  })

  it("counts newer runs, shows their number, and moves rows only on request", async () => {
    const { context, misdeeds, page } = await openPage()
    await go(page, "/runs")
    const row = page.locator("[data-row='0']")
    await row.waitFor()
    const before = await row.getByRole("link").first().getAttribute("href")
    const { body } = await waitingRun({})
    const said = page.getByRole("status", { name: "Newer runs" })
    await said.getByText("1 newer run").waitFor()
    assert.strictEqual(await row.getByRole("link").first().getAttribute("href"), before)
    await page.getByRole("button", { name: "1 newer" }).click()
    await row.locator(`a[href*="${body.runId}"]`).waitFor()
    assert.strictEqual(await said.textContent(), "")
    await ask("POST", `${CONTROL_PLANE}/runs/${body.runId}/cancel`, { reason: "it was only to be newer" })
    assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
    await context.close()
  })

  it("shows the run at any index, as the API replays it", async () => {
    const { context, page } = await openPage()
    for (const position of [1, 20, 60]) {
      await go(page, `/runs/${decided}?at=${position}`)
      await light(page, "complete")
      await page.getByText(`as of event ${position},`).waitFor()
      const events = (await ask("GET", `${CONTROL_PLANE}/runs/${decided}/events?limit=${position}`)).body
      const replayed = await ask("GET", `${CONTROL_PLANE}/runs/${decided}/replay/state?seq=${events.at(-1).seq}`)
      assert.strictEqual(replayed.status, 200)
      const status = await page.locator("header [data-status]").getAttribute("data-status")
      assert.strictEqual(status, replayed.body.run.status)
      assert.include((await page.locator("header dl").textContent()) ?? "", String(replayed.body.timeline.totalEvents))
    }
    await page.keyboard.press("ArrowRight")
    await page.getByText("as of event 61,").waitFor()
    await page.keyboard.press("ArrowLeft")
    await page.getByText("as of event 60,").waitFor()
    assert.include(page.url(), "at=60")
    await page.keyboard.press("l")
    await page.getByText("as of event").waitFor({ state: "detached" })
    await context.close()
  })

  it("finds an event by a word in its payload, and shows the whole of it", async () => {
    const { context, page } = await openPage()
    await go(page, `/runs/${decided}?view=events`)
    await light(page, "complete")
    await page.keyboard.press("/")
    await page.keyboard.type("sessionstart")
    await page.waitForURL(/q=sessionstart/)
    await page.getByRole("listbox").getByRole("option").first().click()
    const details = page.getByLabel("Event", { exact: true })
    await details.getByText("SessionStart").first().waitFor()
    assert.include(page.url(), "q=sessionstart")
    await page.keyboard.press("Escape")
    await context.close()
  })

  it("is used by keys alone: find a run, open it, cancel it with a reason", async () => {
    const created = await waitingRun({ runLabel: "waits for its session" })
    const { context, page } = await openPage()
    await go(page, `/runs/${decided}`)
    await light(page, "complete")
    await page.keyboard.press("g")
    await page.keyboard.press("r")
    await page.locator("[data-row='0']").waitFor()
    await page.keyboard.press("/")
    await page.keyboard.type(created.body.runId)
    await page.keyboard.press("Escape")
    await page.getByText("1 run", { exact: true }).waitFor()
    await page.keyboard.press("j")
    await page.keyboard.press("Enter")
    await page.locator("h1").getByText("waits for its session").waitFor()
    // A screen reader announces changes in a region that existed before.
    const live = page.locator("header [aria-live='polite']").filter({ has: page.locator("[data-status]") })
    const region = await live.elementHandle()
    const before = await live.textContent()
    await page.getByRole("button", { name: "Cancel" }).focus()
    await page.keyboard.press("Enter")
    await page.getByRole("dialog").waitFor()
    const confirm = page.getByRole("button", { name: "Cancel the run" })
    assert.isTrue(await confirm.isDisabled())
    await page.getByLabel("Reason").fill("no agent joins")
    await picture(page, "cancel-1280-light")
    assert.deepStrictEqual(await violationsOf(page), [])
    await confirm.focus()
    await page.keyboard.press("Enter")
    await page.locator("header [data-status='cancelled']").waitFor()
    assert.notMatch(before ?? "", /cancelled/i)
    assert.match((await region?.textContent()) ?? "", /cancelled/i)
    assert.isTrue(await region?.evaluate((node) => node.isConnected))
    assert.strictEqual((await stateOf(created.body.runId)).run.status, "cancelled")
    await context.close()
  })

  it("takes hostile texts for texts", async () => {
    const hostile = `<img src=x onerror="window.harmed=1"><script>window.harmed=1</script> \u202egnirts\u202c 🎈 ${"W".repeat(3_000)}`
    // Lists leave out what is longer than 4 KB.
    const endless = `${hostile}${"W".repeat(7_000)}`
    const created = await waitingRun({ runLabel: hostile, intent: endless }, "<b>bold</b>")
    const { context, misdeeds, page } = await openPage()
    await go(page, "/runs")
    await page.locator("[data-row='0']").getByText("<img src=x").waitFor()
    await picture(page, "hostile-runs-1280-light")
    await go(page, `/runs/${created.body.runId}`)
    await page.locator("h1").getByText("<img src=x").waitFor()
    await picture(page, "hostile-run-1280-light")
    assert.isFalse(await page.evaluate(() => "harmed" in window))
    assert.isTrue(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth))
    assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
    await ask("POST", `${CONTROL_PLANE}/runs/${created.body.runId}/cancel`, { reason: "seen" })
    await context.close()
  })

  it("says what is wrong with a link, with the id of the request", async () => {
    const { context, page } = await openPage()
    await go(page, "/runs/00000000-0000-4000-8000-000000000000")
    const alert = page.getByRole("alert").first()
    await alert.getByText("RUN_NOT_FOUND").waitFor()
    await alert.getByText("copy request id").waitFor()
    await alert.getByRole("heading", { name: "No run has this id" }).waitFor()
    assert.deepStrictEqual(await violationsOf(page), [])
    await picture(page, "not-found-1280-light")
    await go(page, "/runs/no-id")
    await alert.getByText("the address does not end with the id of a run").waitFor()
    assert.strictEqual(await page.getByText("uuid").count(), 0)
    await go(page, "/nowhere")
    await page.getByText("Page not found").waitFor()
    await context.close()
  })

  it("launches a scenario from its form, with the faults of the service beside the fields", async () => {
    const { context, misdeeds, page } = await openPage()
    await go(page, "/launch?scenario=incident%2Fregion-failover&version=1.0.0")
    const launch = page.getByRole("button", { name: "Launch" })
    await launch.waitFor()
    const inbox = page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Inbox" })
    assert.strictEqual(await inbox.getAttribute("href"), `${LAUNCHER}/inbox`)
    assert.deepStrictEqual(await violationsOf(page), [])
    await picture(page, "launch-1280-light")
    await page.getByRole("button", { name: "As JSON" }).click()
    const json = page.getByLabel("Inputs as JSON")
    const inputs = JSON.parse(await json.inputValue())
    await json.fill(JSON.stringify({ ...inputs, errorRatePercent: 500 }))
    await page.getByRole("button", { name: "As a form" }).click()
    await launch.click()
    await page.getByText("must be <= 100").waitFor()
    await picture(page, "launch-refused-1280-light")
    await page.getByRole("button", { name: "As JSON" }).click()
    await json.fill(JSON.stringify(inputs))
    await launch.click()
    await page.waitForURL(/\/console\/runs\/[0-9a-f-]{36}/)
    await light(page, "complete")
    assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
    await context.close()
  })

  it("says at which step a launch failed, and why", async () => {
    const { context, misdeeds, page } = await openPage()
    const answers = `${LAUNCHER}/examples/run`
    const headers = { "access-control-allow-origin": CONTROL_PLANE }
    const fails = async (status: number, json: unknown, step: string, why: string) => {
      await page.route(answers, (route) => route.fulfill({ status, headers, json }))
      await go(page, "/launch?scenario=incident%2Fregion-failover&version=1.0.0")
      await page.getByRole("button", { name: "Launch", exact: true }).click()
      const failed = page.locator(`[data-step="${step}"][data-state="failed"]`)
      await failed.getByText(why).waitFor()
      assert.strictEqual(await page.locator('[data-state="failed"]').count(), 1)
      await page.unroute(answers)
    }
    const refusal = (statusCode: number, errorCode: string) => ({
      statusCode,
      errorCode,
      message: `made: ${errorCode}`
    })
    await fails(400, refusal(400, "VALIDATION_ERROR"), "compiled", "made: VALIDATION_ERROR")
    await fails(502, refusal(502, "AUTH_MINT_FAILED"), "agents", "made: AUTH_MINT_FAILED")
    await fails(502, refusal(502, "AGENT_ATTACH_FAILED"), "agents", "made: AGENT_ATTACH_FAILED")
    const example = { scenarioRef: "incident/region-failover@1.0.0", inputs: {}, bootstrapAgents: false }
    const { body: compiled } = await ask("POST", answers, { ...example, submitToControlPlane: false })
    await fails(201, compiled, "submitted", "the control plane did not take the run")
    // A run that ends before its session is open.
    const { body: run } = await waitingRun({ runLabel: "never opened" })
    await ask("POST", `${CONTROL_PLANE}/runs/${run.runId}/cancel`, { reason: "no agent joins" })
    await fails(201, { ...compiled, controlPlaneRun: run }, "session", "no agent has opened the session")
    await picture(page, "launch-failed-1280-light")
    assert.deepStrictEqual(await violationsOf(page), [])
    assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
    await context.close()
  })

  it("has no violation that axe finds, on every page and view, in both themes, on wide and narrow screens", async () => {
    const views = ["story", "decision", "timeline", "events", "cost"]
    const { context, page } = await openPage()
    await go(page, "/runs")
    await page.locator("[data-row='0']").waitFor()
    await looksRight(page, "runs")
    await go(page, "/launch")
    await page
      .getByRole("button", { name: /region-failover/ })
      .first()
      .waitFor()
    await looksRight(page, "launch")
    for (const view of views) {
      await go(page, `/runs/${decided}?view=${view}`)
      await light(page, "complete")
      await page.waitForFunction(() => document.querySelector(".skeleton") === null)
      await looksRight(page, view)
    }
    await context.close()
  })

  it("lets an EventSource without a key follow a run by a ticket: one run, one use, one minute", async () => {
    const { context, misdeeds, page } = await openPage({ signedIn: false })
    await go(page, "/")
    const { lastEventIndex } = (await ask("GET", `${CONTROL_PLANE}/runs/${decided}`)).body
    const nothing = { opened: 0, indexes: [], status: undefined }
    const follow = (path: string) => followed(page, path, lastEventIndex)
    assert.deepStrictEqual(await follow(`/runs/${decided}/stream`), nothing, "without a ticket")

    const other = await waitingRun({ runLabel: "of no concern to the ticket" })
    const asked = Date.now()
    const { expiresAt, path, ticket } = await ticketFor(decided)
    assert.isAtMost(expiresAt - Date.now(), 60_000)
    assert.isAbove(expiresAt, asked)
    const elsewhere = await follow(`/runs/${other.body.runId}/stream?ticket=${ticket}`)
    assert.deepStrictEqual(elsewhere, nothing, "for another run")

    const seen = await follow(path)
    assert.deepStrictEqual(seen, {
      opened: 1,
      indexes: Array.from({ length: lastEventIndex }, (_, position) => position + 1),
      status: "completed"
    })
    assert.deepStrictEqual(await follow(path), nothing, "a second time")
    assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
    await ask("POST", `${CONTROL_PLANE}/runs/${other.body.runId}/cancel`, { reason: "it was only for comparison" })
    await context.close()
  })
})
