import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import {
  ask,
  CONTROL_PLANE,
  completedExample,
  go,
  openPage,
  PATIENCE_MS,
  picture,
  startStack,
  tearDown,
  violationsOf,
  waitingRun
} from "./Stage.ts"

const rules = () => `${CONTROL_PLANE}/alerts/rules`
const SLACK = "http://127.0.0.1:9/slack"
const PAGER = "http://127.0.0.1:9/pager"
const MAIL = "http://127.0.0.1:9/mail"

beforeAll(async () => {
  await startStack()
}, 4 * PATIENCE_MS)
afterAll(tearDown)

const urlsOf = async (): Promise<ReadonlyArray<string>> =>
  (await ask("GET", `${CONTROL_PLANE}/webhooks`)).body.map(({ url }: { readonly url: string }) => url).toSorted()

describe("the form of an alert rule", () => {
  it("keeps the targets of each level, adds one to all, and removes the webhooks with the rule", async () => {
    const made = await ask("POST", rules(), {
      ...{ id: "team", name: "Budget of the team", per: "all", window: "month", measure: "costUsd" },
      ...{ repeatEveryMs: 3_600_000, minRuns: 2 },
      levels: [
        { at: 80, severity: "warning", actions: [{ type: "webhook", format: "slack", url: SLACK }] },
        {
          ...{ at: 100, severity: "critical" },
          actions: [
            { type: "webhook", format: "pagerduty", url: PAGER, routingKey: "0123456789abcdef" },
            { type: "tag", tag: "over-budget" }
          ]
        }
      ]
    })
    assert.strictEqual(made.status, 201)
    const { context, misdeeds, page } = await openPage()
    await go(page, "/alerts?rule=team")
    await page.getByRole("button", { name: "Change" }).click()
    const form = page.getByRole("dialog")
    await form.getByLabel("Actions of level 2").getByText("pagerduty ****cdef").waitFor()
    await form.getByLabel("Actions of level 2").getByText("tag over-budget").waitFor()
    await form.getByLabel("Name", { exact: true }).fill("Budget of two")
    await form.getByText("Would not have fired in the last 7 days.").waitFor()
    await form.getByLabel("Threshold of level 1").fill("90")
    assert.deepStrictEqual(await violationsOf(page), [])
    await picture(page, "alert-rule-form-1280-light")
    await form.getByRole("button", { name: "Save" }).click()
    await form.waitFor({ state: "detached" })
    const saved = (await ask("GET", `${rules()}/team`)).body
    assert.include(saved, { name: "Budget of two", repeatEveryMs: 3_600_000, minRuns: 2 })
    assert.deepStrictEqual(
      saved.levels.map(({ actions }: { readonly actions: unknown }) => actions),
      made.body.levels.map(({ actions }: { readonly actions: unknown }) => actions)
    )

    await page.getByRole("button", { name: "Change" }).click()
    await form.getByLabel("Notify at every level").fill(MAIL)
    await form.getByRole("button", { name: /^Remove slack to .* from level 1$/ }).click()
    await form.getByRole("button", { name: "Save" }).click()
    await form.waitFor({ state: "detached" })
    const { levels } = (await ask("GET", `${rules()}/team`)).body
    const formats = levels.map(({ actions }: { readonly actions: ReadonlyArray<Record<string, string>> }) =>
      actions.map(({ format, type }) => format ?? type)
    )
    assert.deepStrictEqual(formats, [["generic"], ["pagerduty", "tag", "generic"]])
    assert.deepStrictEqual(await urlsOf(), [MAIL, PAGER])

    await page.getByRole("button", { name: "Remove" }).click()
    await page.getByText("A webhook that was made for this rule is removed").waitFor()
    await page.getByRole("button", { name: "Remove the rule" }).click()
    await page.getByText("No rules yet").waitFor()
    assert.deepStrictEqual(await urlsOf(), [])
    assert.lengthOf(misdeeds.errors, 0)
    await context.close()
  })

  it("adds a rule by its sentence, which says before how often it would have fired", async () => {
    const run = await completedExample()
    const { context, misdeeds, page } = await openPage()
    await go(page, "/alerts")
    await page.getByRole("button", { name: "Add a rule" }).click()
    const form = page.getByRole("dialog")
    await form.getByText("Would not have fired in the last 7 days.").waitFor()
    await form.getByLabel("Measure", { exact: true }).selectOption({ label: "has … events or more" })
    await form.getByLabel("Threshold of level 1").fill("2")
    await form.getByText("Would have fired once in the last 7 days, for 1 run.").waitFor()
    assert.deepStrictEqual(await violationsOf(page), [])
    await picture(page, "alert-rule-sentence-1280-light")
    await form.getByRole("button", { name: "Add", exact: true }).click()
    await form.waitFor({ state: "detached" })
    await page.getByText("A run has 2 events or more").first().waitFor()
    const made = (await ask("GET", `${rules()}/a-run-has-2-events-or-more`)).body
    assert.deepInclude(made, { name: "A run has 2 events or more", measure: "events", per: "run", window: "run" })
    // The rule counts from now on: the next run has alerts, and its page leads to them.
    const { body } = await waitingRun({})
    assert.notStrictEqual(body.runId, run)
    await go(page, `/runs/${body.runId}`)
    const chip = page.locator("[data-alerts]")
    await chip.getByText("A run has 2 events or more").waitFor()
    await chip.click()
    await page.getByRole("heading", { name: "Open alerts" }).waitFor()
    await page.getByText("events 2, level 2").first().waitFor()
    assert.lengthOf(misdeeds.errors, 0)
    await context.close()
  })

  it("types shares in percent and times in minutes, and says which field the service refuses", async () => {
    const { context, misdeeds, page } = await openPage()
    await go(page, "/alerts")
    await page.getByRole("button", { name: "Add a rule" }).click()
    const form = page.getByRole("dialog")
    await form.getByText("Name, telemetry").click()
    await form.getByLabel("Id", { exact: true }).fill("failing")
    await form.getByLabel("Name", { exact: true }).fill("Runs that fail")
    await form.getByLabel("Measure", { exact: true }).selectOption({ label: "is silent for … or longer" })
    await form.getByLabel("Threshold of level 1, minutes").fill("1.5")
    await form.getByText(/^Would (not )?have fired/).waitFor()
    await form.getByLabel("Measure", { exact: true }).selectOption({ label: "fails in … of its runs or more" })
    await form.getByLabel("Subject", { exact: true }).selectOption({ label: "an environment" })
    await form.getByLabel("Window", { exact: true }).selectOption({ label: "in a day" })
    await form.getByLabel("Time zone", { exact: true }).last().fill("Europe/Berlin")
    await form.getByRole("combobox", { name: "What telemetry reports", exact: true }).selectOption("act")
    await form.getByLabel("Threshold of level 1, percent").fill("250")
    await form.getByText(/It cannot be tried: levels\.0\.at must be a share of at most 1/).waitFor()
    await form.getByRole("button", { name: "Add", exact: true }).click()
    await form
      .getByRole("alert")
      .getByText(/levels\.0\.at must be a share of at most 1/)
      .waitFor()
    assert.strictEqual(await form.getByLabel("Name", { exact: true }).inputValue(), "Runs that fail")
    assert.deepStrictEqual(await violationsOf(page), [])
    assert.strictEqual((await ask("GET", `${rules()}/failing`)).status, 404)

    await form.getByLabel("Threshold of level 1, percent").fill("25")
    await form.getByRole("button", { name: "Add a level" }).click()
    await form.getByLabel("Threshold of level 2, percent").fill("50")
    await form.getByRole("combobox", { name: "Severity of level 1" }).selectOption("info")
    await form.getByLabel("Notify (URL").fill(PAGER)
    await form.getByRole("combobox", { name: "Format", exact: true }).selectOption("pagerduty")
    await form.getByLabel("Routing key", { exact: true }).fill("0123456789abcdef0123456789abcdef")
    await form.getByRole("button", { name: "Add", exact: true }).click()
    await form.waitFor({ state: "detached" })
    await page
      .getByText("an environment fails in 25 % / 50 % of its runs or more in a day")
      .locator("visible=true")
      .first()
      .waitFor()
    const { levels, ...rule } = (await ask("GET", `${rules()}/failing`)).body
    assert.deepInclude(rule, {
      ...{ id: "failing", name: "Runs that fail", enabled: true, match: "", measure: "failureRate" },
      ...{ per: "environment", window: "day", zone: "Europe/Berlin", telemetry: "act" }
    })
    assert.notProperty(rule, "admission")
    assert.deepStrictEqual(
      levels.map(({ at, severity, actions }: Record<string, ReadonlyArray<{ readonly format: string }>>) => [
        at,
        severity,
        actions?.map(({ format }) => format)
      ]),
      [
        [0.25, "info", ["pagerduty"]],
        [0.5, "critical", ["pagerduty"]]
      ]
    )
    assert.lengthOf(misdeeds.errors, 0)
    await context.close()
  })

  it("adds a budget that refuses runs, with the cost that it expects of one", async () => {
    const { context, misdeeds, page } = await openPage()
    await go(page, "/alerts")
    await page.getByRole("button", { name: "Add a rule" }).click()
    const form = page.getByRole("dialog")
    await form.getByLabel("Subject", { exact: true }).selectOption({ label: "everything together" })
    await form.getByRole("combobox", { name: "Runs that count" }).fill("environment:closed")
    await form.getByLabel("Threshold of level 1, dollars").fill("0.25")
    await form.getByLabel("Refuse runs that would reach the limit").check()
    await form.getByLabel("Dollars of a run").fill("0.25")
    await form.getByText("Name, time zone, telemetry").click()
    await form.getByLabel("Id", { exact: true }).fill("closed")
    await form.getByRole("button", { name: "Add", exact: true }).click()
    await form.waitFor({ state: "detached" })
    assert.deepInclude((await ask("GET", `${rules()}/closed`)).body, {
      ...{ match: "environment:closed", measure: "costUsd", admission: true, expectedCostUsd: 0.25, window: "month" },
      name: "Everything together costs $0.25 or more in a month"
    })
    // A budget is new in its period: it says so.
    await page
      .getByText(/^counted since/)
      .first()
      .waitFor()
    assert.lengthOf(misdeeds.errors, 0)
    await context.close()
  })

  it("shows silences with end, author and reason, removes them, and lists what was resolved", async () => {
    const match = 'environment:"quiet"'
    await ask("POST", `${CONTROL_PLANE}/alerts/silences`, {
      ...{ match, reason: "planned maintenance", until: new Date(Date.now() + 7_200_000).toISOString() }
    })
    const { body } = await waitingRun({})
    await ask("POST", rules(), {
      ...{ id: "brief", name: "Any event", per: "run", window: "run", measure: "events" },
      levels: [{ at: 1, severity: "info", actions: [] }]
    })
    await ask("POST", `${CONTROL_PLANE}/runs/${body.runId}/cancel`, { reason: "enough" })
    const { context, misdeeds, page } = await openPage({ width: 390, theme: "dark" })
    await go(page, "/alerts")
    const silences = page.getByRole("region", { name: "Silences" })
    await silences.getByText(match).waitFor()
    await silences.getByText("planned maintenance").locator("visible=true").waitFor()
    await silences.getByText(/in (1 h|2 h)/).waitFor()
    const resolved = page.getByRole("region", { name: "Resolved lately" })
    await resolved.getByText("Any event").first().waitFor()
    await resolved.getByText("its run ended").first().waitFor()
    assert.deepStrictEqual(await violationsOf(page), [])
    await picture(page, "alerts-390-dark")
    await silences.getByRole("button", { name: "Remove" }).click()
    await page.getByRole("button", { name: "Remove the silence" }).click()
    await page.getByRole("dialog").waitFor({ state: "detached" })
    await silences.waitFor({ state: "detached" })
    assert.deepStrictEqual((await ask("GET", `${CONTROL_PLANE}/alerts/silences`)).body, [])
    assert.lengthOf(misdeeds.errors, 0)
    await context.close()
  })
})
