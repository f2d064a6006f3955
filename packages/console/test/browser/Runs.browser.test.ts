import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { Page } from "playwright-core"
import {
  ask,
  CONTROL_PLANE,
  completedExample,
  go,
  light,
  openPage,
  PATIENCE_MS,
  picture,
  startStack,
  tearDown,
  violationsOf,
  waitingRun
} from "./Stage.ts"

let completed = ""

beforeAll(async () => {
  await startStack()
  completed = await completedExample()
  await waitingRun({ runLabel: "first of some", environment: "some" })
  await waitingRun({ runLabel: "second of some", environment: "some" })
  await waitingRun({ runLabel: "keep this one", environment: "kept" })
}, 4 * PATIENCE_MS)
afterAll(tearDown)

const LIST = (url: URL) => url.pathname === "/runs" && url.searchParams.has("include")

/** The tick boxes that a user or a script can tick. */
const boxes = (page: Page) =>
  page.evaluate(
    () =>
      [...document.querySelectorAll<HTMLInputElement>("[role=table] input[type=checkbox]")].filter(
        (box) => !box.disabled && box.closest("[inert]") === null
      ).length
  )

describe("rows of an earlier search", () => {
  it("cannot be chosen until the answer to the new search is here", async () => {
    const { context, misdeeds, page } = await openPage()
    await go(page, "/runs")
    await page.getByLabel("Choose keep this one").check()
    await page.getByRole("toolbar", { name: "Chosen runs" }).waitFor()
    let answer = () => {}
    const held = new Promise<void>((resolve) => {
      answer = resolve
    })
    await page.route(LIST, async (route) => {
      await held
      await route.continue()
    })
    await page.getByRole("combobox", { name: "Search runs" }).fill("environment:some")
    await page.keyboard.press("Enter")
    await page.getByText("Reading the runs of the new search").waitFor()
    assert.strictEqual(await page.getByLabel("Choose keep this one").count(), 1)
    assert.strictEqual(await boxes(page), 0)
    assert.strictEqual(await page.getByRole("toolbar", { name: "Chosen runs" }).count(), 0)
    await page.keyboard.press("x")
    assert.strictEqual(await page.getByRole("toolbar", { name: "Chosen runs" }).count(), 0)
    await picture(page, "runs-locked-1280-light")
    answer()
    await page.getByText("2 runs", { exact: true }).waitFor()
    assert.strictEqual(await boxes(page), 3)
    assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
    await context.close()
  })

  it("cannot be chosen while the search is not valid", async () => {
    const { context, misdeeds, page } = await openPage()
    await go(page, "/runs")
    await page.getByLabel("Choose keep this one").check()
    const search = page.getByRole("combobox", { name: "Search runs" })
    await search.fill("cost:>")
    await page.getByText("The search is not valid").waitFor()
    await page.locator("h1").click()
    assert.strictEqual(await boxes(page), 0)
    assert.strictEqual(await page.getByRole("toolbar", { name: "Chosen runs" }).count(), 0)
    await picture(page, "runs-invalid-1280-light")
    await search.fill("cost:>=0")
    await page.keyboard.press("Enter")
    await page.getByText("The search is not valid").waitFor({ state: "detached" })
    await page.waitForFunction(() => document.querySelector("[role=table] [inert]") === null)
    assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
    await context.close()
  })

  it("leave no chosen run behind, and a search that fails shows no rows", async () => {
    const { context, misdeeds, page } = await openPage()
    await go(page, "/runs")
    await page.getByLabel("Choose keep this one").check()
    await page.route(LIST, (route) =>
      route.fulfill({
        status: 400,
        json: { statusCode: 400, errorCode: "VALIDATION_ERROR", message: "made by the test" }
      })
    )
    await page.getByRole("combobox", { name: "Search runs" }).fill("kept")
    await page.keyboard.press("Enter")
    await page.getByRole("alert").getByText("made by the test").waitFor()
    assert.strictEqual(await page.locator("[data-row]").count(), 0)
    await page.unrouteAll()
    await page.getByRole("combobox", { name: "Search runs" }).fill("")
    await page.getByLabel("Choose keep this one").waitFor()
    assert.isFalse(await page.getByLabel("Choose keep this one").isChecked())
    assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
    await context.close()
  })

  it("stay in the dialog of an action that removes them from the list", async () => {
    const { context, misdeeds, page } = await openPage()
    await go(page, `/runs?q=${encodeURIComponent("environment:some status:(queued,starting,binding_session)")}`)
    await page.getByText("2 runs", { exact: true }).waitFor()
    await page.getByLabel("Choose all runs that are loaded").check()
    await page.getByRole("toolbar").getByRole("button", { name: "Cancel" }).click()
    await page.getByLabel("Reason").fill("not needed")
    await page.getByRole("button", { name: "Cancel them" }).click()
    await page.getByText("2 runs cancelled, 0 not").waitFor()
    // The cancelled runs leave the list below the dialog.
    await page.locator("[data-row]").first().waitFor({ state: "detached" })
    assert.isTrue(await page.getByText("2 runs cancelled, 0 not").isVisible())
    await page.getByRole("button", { name: "Close", exact: true }).last().click()
    await page.getByText("2 runs cancelled, 0 not").waitFor({ state: "detached" })
    assert.strictEqual((await ask("GET", `${CONTROL_PLANE}/runs?q=status:cancelled`)).body.total, 2)
    assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
    await context.close()
  })
})

describe("the facets of the list", () => {
  it("count the runs of each value, and narrow the list; a chosen view opens it", async () => {
    const { context, misdeeds, page } = await openPage()
    await go(page, "/runs?facets=true")
    const environments = page.getByRole("list", { name: "Environment" })
    await environments.getByRole("button", { name: "kept 1", exact: true }).waitFor()
    await environments.getByRole("button", { name: "some 2", exact: true }).click()
    await page.getByText("2 runs", { exact: true }).waitFor()
    assert.include(page.url(), "q=environment%3Asome")
    // The other values stay in the list, so that they can be added.
    await environments.getByRole("button", { name: "kept 1", exact: true }).waitFor()
    assert.deepStrictEqual(await violationsOf(page), [])
    await picture(page, "runs-facets-1280-light")
    await page.getByRole("button", { name: "Save this view" }).click()
    await page.getByLabel("Name", { exact: true }).fill("Some")
    await page.getByLabel("Private").check()
    await page.getByRole("button", { name: "Save", exact: true }).click()
    await page.getByRole("button", { name: "private: Some", exact: true }).waitFor()
    await page.getByRole("button", { name: "Open with this view" }).click()
    await go(page, "/runs")
    await page.getByText("2 runs", { exact: true }).waitFor()
    assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
    await context.close()
  })
})

describe("a run that has left the database", () => {
  it("opens by its id, is marked, and offers no change but its deletion", async () => {
    const { body: run } = await ask("GET", `${CONTROL_PLANE}/runs/${completed}`)
    const { body: artifacts } = await ask("GET", `${CONTROL_PLANE}/runs/${completed}/artifacts`)
    const { context, misdeeds, page } = await openPage()
    const isList = (url: URL) => url.pathname === "/runs"
    await page.route(isList, (route) => route.fulfill({ json: { data: [], total: 0, limit: 50, offset: 0 } }))
    await page.route(`${CONTROL_PLANE}/runs/${completed}`, (route) =>
      route.fulfill({ json: { ...run, storage: "archive" } })
    )
    await page.route(`${CONTROL_PLANE}/runs/${completed}/artifacts`, (route) =>
      route.fulfill({
        json: artifacts.map(({ inline, ...artifact }: { readonly inline?: unknown }) =>
          inline === undefined ? artifact : { ...artifact, inlineOmitted: true }
        )
      })
    )
    await go(page, "/runs")
    await page.getByRole("heading", { name: "Runs" }).waitFor()
    await page.keyboard.press("Control+k")
    await page.getByRole("combobox", { name: "Page, run or action" }).fill(completed)
    await page.getByRole("option", { name: /Open this run/ }).click()
    await page.getByRole("note").getByText("This run has left the database and cannot be changed").waitFor()
    await light(page, "complete")
    await page.getByText("read-only", { exact: true }).waitFor()
    await page.getByRole("button", { name: "Delete" }).waitFor()
    await page.getByRole("button", { name: "Clone" }).waitFor()
    for (const name of ["Archive", "Cancel", "Suspend", "Comment", "Add a mark"]) {
      assert.strictEqual(await page.getByRole("button", { name, exact: true }).count(), 0, name)
    }
    assert.deepStrictEqual(await violationsOf(page), [])
    await picture(page, "run-read-only-1280-light")
    await page.getByRole("tab", { name: "Artifacts" }).click()
    await page.getByText("The archive does not have its content.").first().waitFor()
    await page.getByRole("tab", { name: "Traces" }).click()
    await page.getByText("incident-commander").first().waitFor()
    assert.strictEqual(await page.getByRole("alert").count(), 0)
    assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
    await context.close()
  })
})
