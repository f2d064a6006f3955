import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { looksRight } from "./Looks.ts"
import {
  ask,
  CONTROL_PLANE,
  completedExample,
  go,
  KEY,
  LAUNCHER,
  openPage,
  picture,
  startStack,
  tearDown,
  violationsOf,
  waitingRun
} from "./Stage.ts"

beforeAll(async () => {
  await startStack()
  await completedExample()
})
afterAll(tearDown)

const get = async (path: string) => (await ask("GET", `${CONTROL_PLANE}${path}`)).body

/** The run of a further example, as it is when it has completed. */
const endedExample = async () => get(`/runs/${await completedExample()}`)

/** An answer with this text in its members of these names. */
const withTextsIn = (value: unknown, names: ReadonlyArray<string>, text: string): unknown => {
  if (Array.isArray(value)) return value.map((one) => withTextsIn(one, names, text))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      if (!names.includes(name)) return [name, withTextsIn(member, names, text)]
      if (Array.isArray(member)) return [name, member.map((one) => (typeof one === "string" ? text : one))]
      return [name, typeof member === "string" ? text : withTextsIn(member, names, text)]
    })
  )
}

/** What leaves its cell, reaches beyond the screen with no way to scroll there, or moves a page sideways. */
const widerThanTheirCells = () => {
  const scrolls = (element: Element): boolean => {
    for (let around = element.parentElement; around !== null; around = around.parentElement) {
      const { overflowX } = getComputedStyle(around)
      if (overflowX !== "visible" && around.id !== "content") return true
    }
    return false
  }
  const leaves = (cell: Element): boolean =>
    getComputedStyle(cell).overflowX === "visible" && cell.scrollWidth > cell.clientWidth + 1
  const cells = [...document.querySelectorAll("[role=cell], td")].filter(leaves)
  const beyond = [...document.querySelectorAll("main *, [role=dialog], [role=dialog] *")].filter(
    (element) => element.getBoundingClientRect().right > window.innerWidth + 1 && !scrolls(element)
  )
  const sheets = [...document.querySelectorAll("main [tabindex='0']")].slice(0, 1)
  const sideways = sheets.filter((sheet) => sheet.scrollWidth > sheet.clientWidth + 1)
  return [...cells, ...beyond, ...sideways].map((element) => element.outerHTML.slice(0, 200)).slice(0, 5)
}

describe("the pages of the fleet", () => {
  it("shows the figures of the overview as the API has them, and leads to the runs that they count", async () => {
    const { context, misdeeds, page } = await openPage()
    await go(page, "/")
    const kpi = (id: string) => page.locator(`[data-kpi="${id}"]`)
    await kpi("total").waitFor()
    const { charts, kpis, scenarios } = await get("/dashboard/overview?window=24h")
    assert.strictEqual(await kpi("total").locator("[data-value]").textContent(), String(kpis.totalRuns))
    assert.strictEqual(await kpi("failed").locator("[data-value]").textContent(), String(kpis.failedRuns))
    await page.locator("[data-trend] canvas").first().waitFor()
    await page.getByRole("region", { name: "All charts" }).getByRole("button", { name: "Show" }).click()
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
    // While the dialog is there, the page behind it is hidden from queries by role.
    await page.getByRole("dialog").waitFor({ state: "detached" })
    await list.waitFor()
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
    await page.getByText("No endpoints yet").waitFor()
    assert.deepStrictEqual(await get("/webhooks"), [])
    assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
    await context.close()
  })

  it("lists the audit entries of the API, and finds them by search", async () => {
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
    await page.getByText("no difference").waitFor()
    const [only, ...others] = (await get("/admin/processes")).data
    assert.deepStrictEqual(others, [])
    const row = page.getByRole("table").filter({ hasText: "Reconnects" }).getByRole("row").nth(1)
    await row.getByText(only.name, { exact: true }).waitFor()
    assert.deepStrictEqual((await row.getByRole("cell").allTextContents()).slice(0, 6), [
      `${only.name}this process`,
      only.version,
      String(only.shards),
      String(only.observedRuns),
      "none",
      String(only.reconnects)
    ])
    await picture(page, "operations-1280-light")
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
    await page.getByRole("button", { name: "Resume" }).click()
    await page.getByText(`${known.total + 2} events`).waitFor()
    await page.locator("[data-seq]").nth(1).getByRole("link").click()
    await page.waitForURL(new RegExp(`/runs/${created.body.runId}.view=events&event=1`))
    assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
    await context.close()
  })

  it("compares two runs as the API does, with the verdict first, and moves through both at once", async () => {
    const { context, misdeeds, page } = await openPage()
    const right = await endedExample()
    const left = (await get("/runs?status=completed&limit=2")).data[1]
    await go(page, `/compare?left=${left.id}`)
    const picker = page.getByRole("combobox", { name: "Choose the right run" })
    await picker.fill(right.id)
    await page.getByRole("listbox").getByRole("option").first().waitFor()
    await page.keyboard.press("Enter")
    await page.waitForURL(new RegExp(`right=${right.id}`))
    const compared = (await ask("POST", `${CONTROL_PLANE}/runs/compare`, { leftRunId: left.id, rightRunId: right.id }))
      .body
    const verdict = (await page.locator("[data-verdict]").textContent()) ?? ""
    assert.include(verdict, compared.divergence === null ? "the messages do not differ" : compared.divergence.what)
    await page.getByLabel("Left: index in the run").waitFor()
    assert.strictEqual(await page.getByLabel("Left: index in the run").getAttribute("max"), String(left.lastEventIndex))
    await page.getByLabel("Left: index in the run").fill("10")
    await page.waitForURL(/at=10/)
    await page
      .locator("label", { has: page.getByLabel("Left: index in the run") })
      .getByText(`10 of ${left.lastEventIndex}`)
      .waitFor()
    await page.getByRole("button", { name: "Swap" }).click()
    await page.waitForURL(new RegExp(`left=${right.id}`))
    assert.deepStrictEqual(await violationsOf(page), [])
    await picture(page, "compare-filled-1280-light")
    await page.emulateMedia({ colorScheme: "dark" })
    await page.locator("[data-theme='dark']").waitFor()
    assert.deepStrictEqual(await violationsOf(page), [])
    await picture(page, "compare-filled-1280-dark")
    assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
    await context.close()
  })

  it("shows a gate while it runs, its outcomes as the API has them, and where its runs part", async () => {
    const { context, misdeeds, page } = await openPage()
    const launch = async (inputs: Readonly<Record<string, number>>) => {
      const gate = {
        gate: { case: "mixed", variant: `inputs=${inputs["replicationLagSeconds"]}` },
        tags: ["gate:browser"]
      }
      const body = { scenarioRef: "incident/region-failover@1.0.0", mode: "sandbox", bootstrapAgents: true, inputs }
      return (await ask("POST", `${LAUNCHER}/examples/run`, { ...body, ...gate })).body.controlPlaneRun.runId
    }
    await launch({ replicationLagSeconds: 4 })
    await launch({ replicationLagSeconds: 5 })
    const other = await launch({ replicationLagSeconds: 45, errorRatePercent: 3 })
    await go(page, "/gates/browser")
    await page.locator("[data-progress=open]").waitFor()
    await page.locator("[data-progress=ended]").waitFor()
    await page.locator("[data-outcome]", { hasText: "2 of 3 runs, 67 %" }).waitFor()
    await page.locator("[data-verdict=for]").nth(1).waitFor()
    await picture(page, "gate-1280-light")
    const { agreement, flips } = await get("/stability?q=tags:gate:browser")
    await page
      .getByText(`95 % interval ${Math.round(agreement.low * 100)} %`)
      .first()
      .waitFor()
    await page.locator("[data-flip]", { hasText: flips[0].text }).getByRole("link", { name: "Compare" }).click()
    await page.waitForURL(new RegExp(`right=${other}`))
    await go(page, `/runs/${other}`)
    await page.getByRole("link", { name: "Gate" }).click()
    await page.getByRole("link", { name: "Stability of the scenario" }).click()
    await page.getByRole("heading", { name: "Over time" }).waitFor()
    assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
    await context.close()
  })

  it("finds runs by words and facets of one search, saves it as a view, and acts on many with a result for each", async () => {
    const { context, misdeeds, page } = await openPage()
    const { total } = await get("/runs?q=status:completed")
    await waitingRun({ runLabel: "first of many", environment: "many" })
    const second = await waitingRun({ runLabel: "second of many", environment: "many" })
    await go(page, "/runs")
    await page.locator("[data-row='0']").waitFor()
    await page.getByRole("combobox", { name: "Status" }).selectOption("completed")
    await page.waitForURL(/q=status%3Acompleted/)
    await page.getByText(`${total} run`).first().waitFor()
    const search = page.getByRole("combobox", { name: "Search runs" })
    assert.strictEqual(await search.inputValue(), "status:completed")
    await page.getByRole("button", { name: "Save this view" }).click()
    await page.getByLabel("Name", { exact: true }).fill("All that went well")
    await page.getByRole("button", { name: "Save", exact: true }).click()
    await page.getByRole("button", { name: "All that went well", exact: true }).waitFor()
    const views = await get("/views?resource=runs")
    assert.strictEqual(views.find(({ name }: { name: string }) => name === "All that went well").q, "status:completed")
    await page.getByRole("button", { name: "All", exact: true }).click()
    await search.fill("many")
    await page.keyboard.press("Enter")
    await page.getByText("2 runs", { exact: true }).waitFor()
    await page.getByLabel("Choose first of many").check()
    await page.getByLabel("Choose second of many").check()
    await page.getByRole("toolbar").getByRole("button", { name: "Cancel" }).click()
    await page.getByLabel("Reason").fill("not needed")
    await picture(page, "bulk-1280-light")
    assert.deepStrictEqual(await violationsOf(page), [])
    await page.getByRole("button", { name: "Cancel them" }).click()
    await page.getByText("2 runs cancelled, 0 not").waitFor()
    await page.keyboard.press("Escape")
    const { data } = await get("/runs?q=many")
    assert.deepStrictEqual(
      data.map(({ status }: { status: string }) => status),
      ["cancelled", "cancelled"]
    )
    await page.getByRole("toolbar").getByRole("button", { name: "Archive" }).click()
    await page.getByRole("button", { name: "Archive them" }).click()
    await page.getByText("2 runs archived, 0 not").waitFor()
    assert.strictEqual((await get("/runs?q=many")).total, 0)
    await page.getByRole("button", { name: "Undo" }).click()
    await page.getByText("2 runs unarchived, 0 not").waitFor()
    await page.keyboard.press("Escape")
    assert.strictEqual((await get("/runs?q=many")).total, 2)
    // The preview leaves the list usable.
    await page.getByLabel("Preview first of many").click()
    const preview = page.getByRole("complementary", { name: "Preview of first of many" })
    await preview.getByText("Participants").waitFor()
    await page.getByLabel("Choose first of many").uncheck()
    await page.keyboard.press("Escape")
    await preview.waitFor({ state: "detached" })
    await page.getByRole("columnheader", { name: "Cost" }).getByRole("button").click()
    await page.waitForURL(/sort=dearest/)
    await page.keyboard.press("Control+k")
    await page.getByRole("combobox", { name: "Page, run or action" }).fill(second.body.runId)
    await page.getByRole("listbox").getByRole("option").filter({ hasText: "second of many" }).waitFor()
    await page.keyboard.press("Enter")
    await page.locator("h1").getByText("second of many").waitFor()
    assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
    await context.close()
  })

  it("takes hostile texts for texts on the pages of audit, webhooks, policies and launch", async () => {
    const markup = '<img src=x onerror="window.harmed=1"><script>window.harmed=1</script>'
    const hostile = `${markup} \u202egnirts\u202c 🎈 ${"W".repeat(10_000)}`
    const created = await ask("POST", `${CONTROL_PLANE}/webhooks`, {
      url: `${CONTROL_PLANE}/nowhere`,
      events: ["run.failed"],
      secret: "secret of the tests"
    })
    const hook = `/webhooks/${created.body.id}`
    await ask("POST", `${CONTROL_PLANE}${hook}/test`)
    for (const width of [1280, 390]) {
      const { context, misdeeds, page } = await openPage({ width })
      const withTexts = (url: string, names: ReadonlyArray<string>) =>
        page.route(url, async (route) => {
          const answer = await route.fetch({ maxRetries: 3 })
          await route.fulfill({ response: answer, json: withTextsIn(await answer.json(), names, hostile) })
        })
      const shows = async (path: string, words: RegExp | string = "<img src=x") => {
        await go(page, path)
        await page.getByText(words).locator("visible=true").first().waitFor()
        await page.waitForFunction(() => document.querySelector(".skeleton") === null)
        await picture(page, `hostile-${path.split(/[/?]/)[1]}-${width}-light`)
        assert.isFalse(await page.evaluate(() => "harmed" in window), path)
        assert.deepStrictEqual(await page.evaluate(widerThanTheirCells), [], `${path} ${width}`)
        assert.deepStrictEqual(await violationsOf(page), [], `${path} ${width}`)
      }
      await withTexts(`${CONTROL_PLANE}/audit?*`, ["actor", "resourceId", "reason", "outcome"])
      await shows("/audit")
      await page.getByRole("row").nth(1).getByRole("button").nth(1).click()
      await page.getByRole("dialog").getByText("Details").waitFor()
      assert.deepStrictEqual(await page.evaluate(widerThanTheirCells), [], `an entry of the audit log ${width}`)
      const ofHooks = ["url", "lastError", "errorMessage", "responseBody", "responseSnippet", "error", "runId"]
      await withTexts(`${CONTROL_PLANE}/webhooks`, ofHooks)
      await withTexts(`${CONTROL_PLANE}/webhooks/*/deliveries*`, ofHooks)
      await shows(`/webhooks?id=${created.body.id}`)
      await withTexts(`${CONTROL_PLANE}/runtime/policies*`, ["policyId", "description", "algorithm"])
      await shows("/policies")
      const ofLaunches = ["title", "description", "name", "summary", "tags", "label", "const", "pattern"]
      await withTexts(`${LAUNCHER}/scenarios*`, ofLaunches)
      await withTexts(`${LAUNCHER}/packs/*/scenarios/*/versions/*/launch-schema*`, ofLaunches)
      await shows("/launch")
      await shows("/launch?scenario=incident%2Fregion-failover&version=1.0.0")
      await page.getByRole("button", { name: "Launch", exact: true }).waitFor()
      assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
      await context.close()
    }
    await ask("DELETE", `${CONTROL_PLANE}${hook}`)
  })

  it("has no violation that axe finds on any of them, in both themes, on wide and narrow screens", async () => {
    const pages = ["overview", "policies", "webhooks", "audit", "operations", "events", "agents", "compare"]
    pages.push("stability", "gates", "gates/browser")
    const { context, page } = await openPage()
    for (const name of pages) {
      await go(page, `/${name}`)
      await page.locator("h1").waitFor()
      await page.waitForFunction(() => document.querySelector(".skeleton") === null)
      await looksRight(page, name.replace("/", "-"))
    }
    await context.close()
  })
})
