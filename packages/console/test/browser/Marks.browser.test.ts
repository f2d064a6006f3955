import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { looksRight } from "./Looks.ts"
import { addMark, addMarkOfAnn, define, marksOf, pressChoice, serveMark, stored } from "./MarkSteps.ts"
import { longRun, numbered, recordedEvents, serveRun } from "./Served.ts"
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
  violationsOf
} from "./Stage.ts"

const RUNS = 3
let runs: ReadonlyArray<string> = []

beforeAll(async () => {
  await startStack()
  for (let count = 0; count < RUNS; count++) runs = [...runs, await completedExample()]
  await define("tone", { kind: "category", categories: ["kind", "plain", "rude"], better: "first" })
  await define("quality", { kind: "number", min: 0, max: 1, better: "higher", description: "Overall" })
}, 6 * PATIENCE_MS)
afterAll(tearDown)

/** The newest first, as the queue has them. */
const queued = () => runs.toReversed()

describe("the review queue", () => {
  it(
    "is worked with the keyboard, from the first run to the last",
    async () => {
      const { context, misdeeds, page } = await openPage()
      await go(page, "/runs")
      await page.getByRole("heading", { name: "Runs" }).waitFor()
      await page.keyboard.press("Control+k")
      await page.getByRole("combobox", { name: "Page, run or action" }).fill("review")
      await page.getByRole("option", { name: /Review/ }).waitFor()
      await page.keyboard.press("Enter")
      await page.waitForURL(/\/review\?run=/, { waitUntil: "commit" })
      const progress = page.locator("[data-progress]")
      await progress.getByText(`1 of ${RUNS} runs, 0 reviewed by you`).waitFor()
      await page.getByRole("region", { name: "Decision card" }).waitFor()
      await stored(page, "none")
      // `correct` marks the decision: 1 is right.
      await pressChoice(page, "1")
      await stored(page, "stored")
      await progress.getByText("1 reviewed by you").waitFor()
      const [first = "", second = "", last = ""] = queued()
      assert.deepStrictEqual(
        (await marksOf(first, "correct")).map(({ value }) => value),
        [true]
      )
      await page.keyboard.press("c")
      await page.keyboard.type("it did fail over n 2")
      await page.keyboard.press("Control+Enter")
      await page.locator("[data-comment]").getByText("it did fail over n 2").waitFor()
      await stored(page, "stored")
      assert.deepInclude((await marksOf(first, "correct"))[0], { value: true, comment: "it did fail over n 2" })

      await page.keyboard.press("n")
      await progress.getByText(`2 of ${RUNS}`).waitFor()
      await stored(page, "none")
      await pressChoice(page, "2")
      await stored(page, "stored")
      await page.keyboard.press("u")
      await stored(page, "none")
      assert.deepStrictEqual(await marksOf(second, "correct"), [])
      await pressChoice(page, "2")
      await stored(page, "stored")
      await page.keyboard.press("p")
      await progress.getByText(`1 of ${RUNS}`).waitFor()
      await stored(page, "stored")
      await page.keyboard.press("n")
      await progress.getByText(`2 of ${RUNS}`).waitFor()
      await page.keyboard.press("Enter")
      await progress.getByText(`3 of ${RUNS}`).waitFor()
      await stored(page, "none")
      await page.keyboard.press("?")
      await page.getByRole("dialog").getByText("Undo the mark just made").waitFor()
      await page.keyboard.press("Escape")
      await page.getByRole("dialog").waitFor({ state: "detached" })
      await pressChoice(page, "1")
      await stored(page, "stored")
      await page.keyboard.press("n")
      await page.getByRole("heading", { name: `All ${RUNS} runs are reviewed` }).waitFor()
      assert.deepStrictEqual(
        [...(await marksOf(second, "correct")), ...(await marksOf(last, "correct"))].map(({ value }) => value),
        [false, true]
      )
      assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
      await context.close()
    },
    4 * PATIENCE_MS
  )

  it(
    "hides the marks of others in the blind mode until there is an own one",
    async () => {
      const { context, page } = await openPage()
      const [first = ""] = queued()
      const secret = "the tone of ann"
      await addMarkOfAnn(first, {
        target: { kind: "run" },
        name: "tone",
        value: "rude",
        source: "human",
        comment: secret
      })
      await addMarkOfAnn(first, {
        target: { kind: "decision" },
        name: "correct",
        value: "decision.blocked",
        source: "human",
        comment: "ann knows"
      })
      const answers = page.waitForResponse(/\/marks\?/)
      await go(page, `/review?name=tone&blind=true&run=${first}`)
      await answers
      await page.getByText("Blind: the marks of others are hidden").waitFor()
      await page.getByRole("region", { name: "Decision card" }).waitFor()
      await page.locator("[data-index]").first().waitFor()
      const shown = ((await page.locator("#content").textContent()) ?? "").toLowerCase()
      for (const text of [secret, "ann knows", "decision.blocked", "user:ann"]) assert.notInclude(shown, text)
      await pressChoice(page, "2")
      await stored(page, "stored")
      await page.locator("[data-comment]").getByText(secret).waitFor()
      await page.locator("[data-comment]").getByText("ann knows").waitFor()
      assert.lengthOf(await marksOf(first, "tone"), 2)
      // Without the blind mode they are there at once.
      await go(page, `/review?name=quality&run=${first}`)
      await page.locator("[data-comment]").getByText(secret).waitFor()
      await context.close()
    },
    4 * PATIENCE_MS
  )

  it(
    "is blind by default where a judge has marked, until the reviewer marks or reveals, and undoes to the mark before",
    async () => {
      const { context, page } = await openPage()
      const [, second = "", last = ""] = queued()
      const secret = "the judge thinks so"
      for (const run of [second, last]) {
        await addMarkOfAnn(run, {
          target: { kind: "run" },
          name: "quality",
          value: 0.25,
          source: "judge",
          judge: { name: "strict" },
          comment: secret
        })
      }
      const judged = page.locator("[data-comment]").getByText(secret)
      await go(page, `/review?name=quality&run=${second}`)
      await page.locator("[data-blind]").waitFor()
      await page.locator("[data-index]").first().waitFor()
      assert.notInclude((await page.locator("#content").textContent()) ?? "", secret)
      await page.getByRole("button", { name: "Show them now" }).click()
      await judged.waitFor()
      // The next run is blind again, until there is an own mark.
      await page.keyboard.press("n")
      await page.locator("[data-blind]").waitFor()
      assert.strictEqual(await judged.count(), 0)
      await pressChoice(page, "2")
      await stored(page, "stored")
      await judged.waitFor()
      const ownOf = async () => (await marksOf(last, "quality")).filter(({ comment }) => comment !== secret)
      const [before] = await ownOf()
      await pressChoice(page, "5")
      await page.getByRole("button", { name: "0.8", pressed: true }).waitFor()
      await stored(page, "stored")
      assert.notStrictEqual((await ownOf())[0]?.value, before?.value)
      await page.keyboard.press("u")
      await page.getByRole("button", { name: String(before?.value), pressed: true }).waitFor()
      await stored(page, "stored")
      assert.deepStrictEqual(await ownOf(), [before])
      // The button goes from blind where judges marked, to always, to off.
      const mode = page.locator("[data-blind-mode]")
      for (const [words, chosen] of [
        ["Blind always", "blind=true"],
        ["Not blind", "blind=false"]
      ] as const) {
        await page.keyboard.press("b")
        await mode.getByText(words).waitFor()
        assert.include(page.url(), chosen)
      }
      await go(page, `/review?name=quality&blind=false&run=${second}`)
      await judged.waitFor()
      await context.close()
    },
    4 * PATIENCE_MS
  )

  it(
    "shows a mark that was not stored until a retry stores it once",
    async () => {
      const { context, page } = await openPage()
      const [first = "", second = ""] = queued()
      await go(page, `/review?name=quality&run=${first}`)
      await stored(page, "none")
      const posts = (url: URL) => /\/marks$/.test(url.pathname)
      await page.route(posts, async (route) => {
        // The service stores it, and its answer is lost.
        if (route.request().method() === "POST") await route.fetch()
        await route.abort()
      })
      await pressChoice(page, "6")
      await stored(page, "failed")
      const lost = page.locator(`[data-not-stored="${first}"]`)
      await lost.getByText("quality 1").waitFor()
      assert.deepStrictEqual(await violationsOf(page), [])
      await picture(page, "review-not-stored-1280-light")
      await page.unroute(posts)
      await page.keyboard.press("n")
      await page.waitForURL(new RegExp(second))
      await lost.waitFor()
      await lost.getByRole("button", { name: "Try again" }).click()
      await lost.waitFor({ state: "detached" })
      assert.deepStrictEqual(
        (await marksOf(first, "quality")).map(({ value }) => value),
        [1]
      )
      await context.close()
    },
    4 * PATIENCE_MS
  )
})

describe("the marks of a run", () => {
  it(
    "are added, shown as text in place, and deleted",
    async () => {
      const { context, misdeeds, page } = await openPage()
      const [first = ""] = queued()
      const hostile = `<img src=x onerror="document.title='broken'"> مرحبا \u202e ${"long words ".repeat(300)}`
      const [call, vote] = await Promise.all(
        ["llm.call.completed", "proposal.updated"].map(async (type) =>
          (await recordedEvents(first)).findLast((event) => event.type === type)
        )
      )
      assert.isDefined(call)
      assert.isDefined(vote)
      const event = { kind: "event", id: Reflect.get(vote, "id") }
      await addMarkOfAnn(first, { target: event, name: "odd", value: true, source: "human", comment: hostile })
      const llmCall = { kind: "llmCall", id: Reflect.get(call, "id") }
      await addMarkOfAnn(first, { target: llmCall, name: "odd", value: false, source: "human" })
      await go(page, `/runs/${first}?event=${vote.index}`)
      const narrative = page.getByRole("tabpanel").locator(`[data-index="${vote.index}"]`)
      await narrative.locator("[data-mark]").getByText("odd").waitFor()
      const inspector = page.getByRole("complementary", { name: "Event", exact: true })
      await inspector.getByText('<img src=x onerror="').waitFor()
      await inspector.getByRole("button", { name: "Show all of the comment" }).click()
      assert.include(await inspector.locator("[data-comment]").textContent(), "long words ".repeat(250).trim())
      await page.keyboard.press("m")
      await page.getByRole("dialog").getByLabel("Name").fill("quality")
      await page.getByRole("dialog").getByRole("button", { name: "0.8" }).click()
      await page.getByRole("dialog").getByLabel("Target").selectOption({ label: "security-analyst" })
      assert.deepStrictEqual(await violationsOf(page), [])
      await picture(page, "mark-add-1280-light")
      await page.getByRole("button", { name: "Add the mark" }).click()
      await page.getByRole("complementary", { name: "Participants" }).getByText("quality").waitFor()
      await go(page, `/runs/${first}?view=cost`)
      await page.locator(`[data-marked="${call.index}"]`).waitFor()
      await page.getByRole("button", { name: /^\d+ marks$/ }).click()
      const own = page.getByRole("dialog").locator("[data-mark-row]", { hasText: "security-analyst" })
      await own.getByRole("button", { name: "Delete the mark" }).click()
      await page.getByRole("dialog", { name: "Delete the mark" }).getByRole("button", { name: "Delete" }).click()
      await own.waitFor({ state: "detached" })
      await page.getByLabel("Replaced and deleted marks too").check()
      await own.getByText("deleted by").waitFor()
      assert.notInclude(await page.title(), "broken")
      assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
      await context.close()
    },
    4 * PATIENCE_MS
  )

  it(
    "are shown in place far back in a run of 20,000 events",
    async () => {
      const { context, misdeeds, page } = await openPage()
      const [run = ""] = runs
      const given = longRun(await recordedEvents(run), 20_000)
      const event = numbered(given)[4_999]
      assert.isDefined(event)
      await serveRun(page, run, given)
      await serveMark(page, run, event)
      await go(page, `/runs/${run}`)
      await light(page, "complete")
      const position = page.getByRole("tabpanel").locator(`[data-index="${event.index}"]`)
      await position.getByText("far back").waitFor()
      // Before it and behind it the story leaves messages out.
      assert.strictEqual(await page.getByText(/\d messages? not shown/).count(), 2)
      assert.isBelow(await page.getByRole("tabpanel").locator("li").count(), 300)
      await page.keyboard.press("N")
      await page.waitForURL(new RegExp(`at=${event.index}`))
      await page.getByText(`as of event ${event.index.toLocaleString("en-US")},`).waitFor()
      await go(page, `/runs/${run}?view=events&event=${event.index}`)
      await light(page, "complete")
      await page.locator(`#event-${event.index} [data-marked]`).getByText("odd").waitFor()
      await picture(page, "marks-20000-1280-light")
      assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
      await context.close()
    },
    4 * PATIENCE_MS
  )

  it(
    "of a judge that does not agree with people are shown as unreliable",
    async () => {
      const { context, page } = await openPage()
      for (const [at, run] of runs.entries()) {
        const tone = { target: { kind: "run" }, name: "tone" }
        await addMark(run, { ...tone, value: at === 0 ? "kind" : "plain", source: "human" })
        await addMark(run, { ...tone, value: at === 0 ? "rude" : "kind", source: "judge", judge: { name: "harsh" } })
      }
      const [run = ""] = runs
      await go(page, `/runs/${run}`)
      await page
        .getByText(/κ -?0\.\d\d, n 3/)
        .first()
        .waitFor()
      assert.strictEqual(await page.getByText("unreliable").count(), 0)
      await go(page, "/marks")
      const row = page.getByRole("row", { name: /tone.*judge harsh/ })
      await row.getByText("no verdict with 3 of at least 20 common targets").waitFor()
      const { body } = await ask("GET", `${CONTROL_PLANE}/runs/${run}/events?limit=20`)
      const events: ReadonlyArray<{ readonly id: string }> = body.data ?? body
      for (const [at, { id }] of events.entries()) {
        const tone = { target: { kind: "event", id }, name: "tone" }
        await addMark(run, { ...tone, value: at % 2 === 0 ? "kind" : "rude", source: "human" })
        await addMark(run, {
          ...tone,
          value: at % 2 === 0 ? "rude" : "kind",
          source: "judge",
          judge: { name: "harsh" }
        })
      }
      await go(page, `/runs/${run}`)
      await page
        .getByText(/unreliable, κ -?0\.\d\d, n 23/)
        .first()
        .waitFor()
      await go(page, "/marks")
      await row.getByText("unreliable").waitFor()
      await row.getByText("Show").click()
      await page.locator('[data-confusion="tone"]').waitFor()
      assert.deepStrictEqual(await violationsOf(page), [])
      await context.close()
    },
    4 * PATIENCE_MS
  )
})

describe("the record of an agent", () => {
  it(
    "has its figures as the API has them, and its reliability curve",
    async () => {
      const { context, misdeeds, page } = await openPage()
      const { body } = await ask("GET", `${CONTROL_PLANE}/agents/security-analyst/record`)
      assert.isAbove(body.judged, 0)
      await go(page, "/agents?id=security-analyst")
      const right = page.locator("[data-right]")
      await right.getByText(`${body.right} of ${body.judged}`).waitFor()
      const curve = page.locator("[data-curve]")
      await curve.waitFor()
      assert.strictEqual(await curve.locator("[data-bin]").count(), body.reliability.length)
      assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
      await context.close()
    },
    2 * PATIENCE_MS
  )

  it("says where truth comes from when there is none", async () => {
    const { context, page } = await openPage()
    const { body } = await ask("GET", `${CONTROL_PLANE}/agents/security-analyst/record`)
    const known = ["brier", "costPerRightUsd", "rightInterval", "rightShare"]
    const counts = Object.fromEntries(Object.entries(body).filter(([name]) => !known.includes(name)))
    const json = { ...counts, judged: 0, right: 0, againstMajority: 0, rightAgainstMajority: 0, reliability: [] }
    await page.route(/\/agents\/security-analyst\/record/, (route) => route.fulfill({ json }))
    await go(page, "/agents?id=security-analyst")
    const empty = page.locator("[data-no-truth]")
    await empty.getByText("/runs/:id/marks").waitFor()
    await empty.getByRole("link", { name: "Review its decisions" }).click()
    await page.waitForURL(/\/review\?q=/)
    await context.close()
  })
})

describe("marks beside the runs", () => {
  it(
    "are a column of the list, and complete in its search",
    async () => {
      const { context, misdeeds, page } = await openPage()
      await go(page, "/runs?columns=decision,mark.tone")
      await page.getByRole("columnheader", { name: "tone" }).waitFor()
      await page.getByRole("cell").getByText("kind").first().waitFor()
      await page.getByRole("combobox", { name: "Order" }).selectOption({ label: "Mark tone, descending" })
      await page.waitForURL(/sort=mark\.tone\+desc/)
      await page.getByRole("cell").getByText("rude").first().waitFor()
      const search = page.getByRole("combobox", { name: "Search runs" })
      await search.fill("mark.to")
      await page.getByRole("option", { name: /mark\.tone/ }).waitFor()
      await search.press("ArrowDown")
      await search.press("Enter")
      await page.getByRole("option", { name: "rude" }).waitFor()
      await search.fill("mark.tone:rude")
      await search.press("Enter")
      await page.waitForURL(/mark\.tone/)
      await page
        .getByText(/^\d+ runs?$/)
        .first()
        .waitFor()
      assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
      await context.close()
    },
    2 * PATIENCE_MS
  )

  it("have definitions that an administrator adds", async () => {
    const { context, page } = await openPage()
    await go(page, "/marks")
    await page.getByRole("button", { name: "Add a definition" }).click()
    await page.getByRole("dialog").getByLabel("Name").fill("safe")
    await page.getByRole("dialog").getByLabel("Kind").selectOption({ label: "a category" })
    await page.getByLabel("Categories, one a line, in their order").fill("yes\nperhaps\nno")
    await page.getByRole("dialog").getByRole("button", { name: "Add", exact: true }).click()
    await page.getByRole("row", { name: /safe.*yes, perhaps, no/ }).waitFor()
    await context.close()
  })

  it(
    "have no violation that axe finds, in both themes, on wide and narrow screens and at 200 %",
    async () => {
      const [run = ""] = queued()
      const pages = [
        ["review", `/review?run=${run}`],
        ["review-quality", `/review?name=quality&blind=true&run=${run}`],
        ["marks", "/marks"],
        ["record", "/agents?id=security-analyst"],
        ["marked-run", `/runs/${run}`],
        ["marked-events", `/runs/${run}?view=events`],
        ["marked-calls", `/runs/${run}?view=cost`],
        ["marked-list", "/runs?columns=decision,mark.tone,mark.correct"]
      ] as const
      const { context, page } = await openPage()
      for (const [name, path] of pages) {
        await go(page, path)
        await page.waitForFunction(() => document.querySelector(".skeleton") === null)
        // A window of 1280 at 200 % is one of 640.
        await looksRight(page, name, [1280, 640, 390])
      }
      await context.close()
    },
    10 * PATIENCE_MS
  )
})
