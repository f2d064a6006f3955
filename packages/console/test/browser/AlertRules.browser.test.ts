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
})
