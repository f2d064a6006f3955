import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { ask, CONTROL_PLANE, go, openPage, PATIENCE_MS, picture, startStack, tearDown, violationsOf } from "./Stage.ts"

const RULES = `${CONTROL_PLANE}/alerts/rules`
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
    const made = await ask("POST", RULES, {
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
    await form.getByLabel("Threshold of level 1").fill("90")
    assert.deepStrictEqual(await violationsOf(page), [])
    await picture(page, "alert-rule-form-1280-light")
    await form.getByRole("button", { name: "Save" }).click()
    await form.waitFor({ state: "detached" })
    const saved = (await ask("GET", `${RULES}/team`)).body
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
    const { levels } = (await ask("GET", `${RULES}/team`)).body
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

  it("adds a rule, and says which field the service refuses without losing the others", async () => {
    const { context, misdeeds, page } = await openPage()
    await go(page, "/alerts")
    await page.getByRole("button", { name: "Add a rule" }).click()
    const form = page.getByRole("dialog")
    await form.getByLabel("Id", { exact: true }).fill("failing")
    await form.getByLabel("Name", { exact: true }).fill("Runs that fail")
    await form.getByText("Levels, ascending; each fires when the value reaches it").waitFor()
    await form.getByLabel("Measure", { exact: true }).fill("failureRate")
    await form.getByText("as shares: 0.5 is 50 %").waitFor()
    await form.getByRole("combobox", { name: "Per", exact: true }).selectOption("environment")
    await form.getByRole("combobox", { name: "Window", exact: true }).selectOption("day")
    await form.getByLabel("Zone", { exact: true }).fill("Europe/Berlin")
    await form.getByRole("combobox", { name: "What telemetry reports", exact: true }).selectOption("act")
    await form.getByRole("button", { name: "Add", exact: true }).click()
    await form
      .getByText(/levels\.0\.at must be a share of at most 1 for the measure failureRate: 0\.5 is 50 %/)
      .waitFor()
    assert.strictEqual(await form.getByLabel("Name", { exact: true }).inputValue(), "Runs that fail")
    assert.deepStrictEqual(await violationsOf(page), [])
    assert.strictEqual((await ask("GET", `${RULES}/failing`)).status, 404)

    await form.getByRole("button", { name: "Remove level 3" }).click()
    await form.getByLabel("Threshold of level 1").fill("0.25")
    await form.getByLabel("Threshold of level 2").fill("0.5")
    await form.getByRole("combobox", { name: "Severity of level 2" }).selectOption("critical")
    await form.getByLabel("Notify (URL").fill(PAGER)
    await form.getByRole("combobox", { name: "Format", exact: true }).selectOption("pagerduty")
    await form.getByLabel("Routing key", { exact: true }).fill("0123456789abcdef0123456789abcdef")
    await form.getByRole("button", { name: "Add", exact: true }).click()
    await form.waitFor({ state: "detached" })
    await page.getByText("Runs that fail").first().waitFor()
    const { levels, ...rule } = (await ask("GET", `${RULES}/failing`)).body
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
    await form.getByLabel("Id", { exact: true }).fill("closed")
    await form.getByLabel("Name", { exact: true }).fill("Closed budget")
    await form.getByRole("combobox", { name: "Runs that count" }).fill("environment:closed")
    await form.getByLabel("Refuse runs that would reach the limit").check()
    await form.getByLabel("Dollars of a run").fill("0.25")
    for (const [number, at] of ["0.1", "0.2", "0.25"].entries())
      await form.getByLabel(`Threshold of level ${number + 1}`).fill(at)
    await form.getByRole("button", { name: "Add", exact: true }).click()
    await form.waitFor({ state: "detached" })
    assert.deepInclude((await ask("GET", `${RULES}/closed`)).body, {
      ...{ match: "environment:closed", measure: "costUsd", admission: true, expectedCostUsd: 0.25, window: "month" }
    })
    assert.lengthOf(misdeeds.errors, 0)
    await context.close()
  })
})
