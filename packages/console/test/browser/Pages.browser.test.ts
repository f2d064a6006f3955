import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import {
  ask,
  CONTROL_PLANE,
  go,
  KEY,
  launchExample,
  openPage,
  picture,
  startStack,
  tearDown,
  violationsOf,
  waitingRun
} from "./Stage.ts"

beforeAll(async () => {
  await startStack()
  await launchExample()
})
afterAll(tearDown)

const get = async (path: string) => (await ask("GET", `${CONTROL_PLANE}${path}`)).body

describe("the pages of the fleet", () => {
  it("shows the figures of the overview as the API has them, and leads to the runs that they count", async () => {
    const { context, misdeeds, page } = await openPage()
    await go(page, "/")
    const kpi = (id: string) => page.locator(`[data-kpi="${id}"]`)
    await kpi("total").waitFor()
    const { charts, kpis, scenarios } = await get("/dashboard/overview?window=24h")
    assert.strictEqual(await kpi("total").locator("[data-value]").textContent(), String(kpis.totalRuns))
    assert.strictEqual(await kpi("failed").locator("[data-value]").textContent(), String(kpis.failedRuns))
    await page.locator("[data-chart] canvas").first().waitFor()
    assert.strictEqual(await page.locator("[data-chart]").count(), Object.keys(charts).length)
    await page.getByRole("table").getByText(scenarios[0].scenario).waitFor()
    assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
    await kpi("positive").click()
    await page.waitForURL(/\/runs\?q=/)
    await context.close()
  })

  it("shows the policies, says where a new one is wrong, registers it and removes it", async () => {
    const { context, misdeeds, page } = await openPage()
    await go(page, "/policies")
    const policies = await get("/runtime/policies")
    await page.getByText(`${policies.length} policies`).waitFor()
    const list = page.getByRole("navigation", { name: "Policies by mode" })
    for (const { policyId } of policies) await list.getByText(policyId, { exact: true }).waitFor()
    await list.getByText("policy.incident.balanced", { exact: true }).click()
    await page.getByText("incident/region-failover@1.0.0", { exact: true }).waitFor()
    await page.getByRole("button", { name: "Register" }).click()
    await page.getByLabel("Id", { exact: true }).fill("policy.test.new")
    await page.getByLabel("Rules, as JSON").fill('{"voting": {"quorom": 1}}')
    await page.getByText('/voting: unrecognized key "quorom"').waitFor()
    assert.isTrue(await page.getByRole("dialog").getByRole("button", { name: "Register" }).isDisabled())
    assert.deepStrictEqual(await violationsOf(page), [])
    await picture(page, "policy-register-1280-light")
    await page.getByLabel("Rules, as JSON").fill('{"voting": {"algorithm": "unanimous"}}')
    await page.getByRole("dialog").getByRole("button", { name: "Register" }).click()
    await list.getByText("policy.test.new").click()
    await page.getByText("Every participant must approve.").waitFor()
    await page.getByRole("button", { name: "Remove" }).click()
    await page.getByText("No scenario of the catalog refers to it.").waitFor()
    await page.getByRole("button", { name: "Remove the policy" }).click()
    await list.getByText("policy.test.new").waitFor({ state: "detached" })
    assert.lengthOf(await get("/runtime/policies"), policies.length)
    assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
    await context.close()
  })

  it("adds an endpoint, shows its secret once, sends a test, and shows what became of it", async () => {
    const { context, misdeeds, page } = await openPage()
    await go(page, "/webhooks")
    await page.getByRole("button", { name: "Add an endpoint" }).click()
    await page.getByLabel("URL").fill(`${CONTROL_PLANE}/nowhere`)
    await page.getByLabel("run.failed").check()
    await page.getByRole("button", { name: "Add", exact: true }).click()
    const secret = (await page.locator("[data-secret] button").getAttribute("title"))?.split("\n")[0] ?? ""
    assert.match(secret, /^whsec_/)
    await page.getByRole("button", { name: "I have copied it" }).click()
    await page.getByRole("button", { name: `${CONTROL_PLANE}/nowhere` }).click()
    await page.getByText(`****${secret.slice(-4)}`).waitFor()
    assert.notInclude((await page.locator("body").textContent()) ?? "", secret)
    await page.getByRole("button", { name: "Send a test" }).click()
    await page.getByRole("button", { name: "webhook.test" }).click()
    const [hook] = await get("/webhooks")
    assert.deepStrictEqual(hook.events, ["run.failed"])
    await page.getByText("webhook returned 401").or(page.getByText("webhook returned 404")).first().waitFor()
    const [delivery] = (await get(`/webhooks/${hook.id}/deliveries`)).data
    assert.strictEqual(delivery.event, "webhook.test")
    await page.getByText(delivery.payload.runId).waitFor()
    await picture(page, "webhook-delivery-1280-light")
    assert.deepStrictEqual(await violationsOf(page), [])
    await page.getByRole("button", { name: "Remove" }).click()
    await page.getByRole("button", { name: "Remove the endpoint" }).click()
    await page.getByText("No endpoint gets events yet").waitFor()
    assert.deepStrictEqual(await get("/webhooks"), [])
    assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
    await context.close()
  })

  it("lists who did what as the API does, and finds by search", async () => {
    const { context, page } = await openPage()
    await go(page, "/audit")
    await page.getByText("webhook.create").first().waitFor()
    const search = page.getByRole("combobox", { name: "Search the audit log" })
    await search.fill("action:policy.delete outcome:bad")
    await page.getByText('"bad" is not a value of outcome').waitFor()
    await search.fill("action:policy.delete")
    await page.keyboard.press("Escape")
    await page.keyboard.press("Enter")
    const { total } = await get("/audit?q=action:policy.delete")
    assert.strictEqual(total, 1)
    await page.getByText("1 entry", { exact: true }).waitFor()
    assert.include(page.url(), "q=action%3Apolicy.delete")
    await context.close()
  })

  it("shows how the service is and how it was started, without secrets", async () => {
    const { context, page } = await openPage()
    await go(page, "/operations")
    const { settings, version } = await get("/admin/process")
    await page.getByText(version, { exact: true }).first().waitFor()
    await page.getByText(`${settings.length} of ${settings.length}`).waitFor()
    await page.getByText("AUTH_API_KEYS", { exact: true }).waitFor()
    assert.notInclude((await page.locator("body").textContent()) ?? "", KEY)
    await page.getByText("both agree").waitFor()
    await context.close()
  })

  it("follows the events of all runs, pauses with a count, and leads to the run at an event", async () => {
    const { context, misdeeds, page } = await openPage()
    await go(page, "/events?q=type%3Arun.created")
    await page.locator("[data-seq]").first().waitFor()
    const known = await get("/events?type=run.created")
    await page.getByText(`${known.total} event`).first().waitFor()
    const created = await waitingRun({})
    await page.getByText(`${known.total + 1} events`).waitFor()
    await page.getByRole("button", { name: "Pause" }).click()
    await waitingRun({})
    await page.locator("[data-waiting]").getByText("1 new").waitFor()
    await page.getByRole("button", { name: "Go on" }).click()
    await page.getByText(`${known.total + 2} events`).waitFor()
    await page.locator("[data-seq]").nth(1).getByRole("link").click()
    await page.waitForURL(new RegExp(`/runs/${created.body.runId}.view=events&event=1`))
    assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
    await context.close()
  })

  it("shows what each participant did as the API counts it", async () => {
    const { context, page } = await openPage()
    const agents = await get("/dashboard/agents/metrics")
    const [first] = agents
    await go(page, `/agents?id=${first.participantId}`)
    await page.getByText(`${agents.length} participants`).waitFor()
    const row = page.getByRole("row").filter({ hasText: first.participantId }).first()
    assert.include((await row.textContent()) ?? "", `${first.runs}${first.messages}${first.signals}`)
    await page.getByText("as it was decided").waitFor()
    await context.close()
  })

  it("has no violation that axe finds on any of them, in both themes, on wide and narrow screens", async () => {
    const pages = ["overview", "policies", "webhooks", "audit", "operations", "events", "agents"]
    for (const theme of ["light", "dark"] as const) {
      for (const width of [1280, 390]) {
        const { context, page } = await openPage({ theme, width })
        for (const name of pages) {
          await go(page, `/${name}`)
          await page.locator("h1").waitFor()
          await page.waitForFunction(() => document.querySelector(".skeleton") === null)
          await picture(page, `${name}-${width}-${theme}`)
          assert.deepStrictEqual(await violationsOf(page), [], `${name} ${theme} ${width}`)
          assert.isTrue(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), name)
        }
        await context.close()
      }
    }
  })
})
