import { readFileSync } from "node:fs"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { Locator, Page } from "playwright-core"
import { ask, CONTROL_PLANE, completedExample, go, openPage, PATIENCE_MS, startStack, tearDown } from "./Stage.ts"

const PAGE = readFileSync(new URL("../../../../docs/reference/console.md", import.meta.url), "utf8")

/** The presses that docs/reference/console.md#tasks promises, by task. */
const PROMISED = new Map(
  PAGE.split("\n").flatMap((line) => {
    const [, task, , presses] = line.split("|").map((cell) => cell.trim())
    return task !== undefined && /^\d+$/.test(presses ?? "") ? [[task, Number(presses)] as const] : []
  })
)

let approved = ""
let declined = ""
let cheap = ""

/** A run that costs $15: 1.5 million tokens of an answer at $10 for a million. */
const expensiveTrace = (traceId: string) => {
  const end = Date.now()
  const values = (given: Readonly<Record<string, string | number>>) =>
    Object.entries(given).map(([key, value]) => ({
      key,
      value: typeof value === "number" ? { intValue: value } : { stringValue: value }
    }))
  const span = (id: string, name: string, attributes: Readonly<Record<string, string | number>>, parent?: string) => ({
    traceId,
    spanId: id.padStart(16, "0"),
    ...(parent !== undefined && { parentSpanId: parent.padStart(16, "0") }),
    name,
    kind: 1,
    startTimeUnixNano: `${end - 2_000}000000`,
    endTimeUnixNano: `${end}000000`,
    attributes: values(attributes),
    status: {}
  })
  const spans = [
    span("1", "invoke_agent spender", { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "spender" }),
    span(
      "2",
      "chat gpt-4o",
      { "gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o", "gen_ai.usage.output_tokens": 1_500_000 },
      "1"
    )
  ]
  const resource = { attributes: values({ "service.name": "spending" }) }
  return { resourceSpans: [{ resource, scopeSpans: [{ scope: { name: "test" }, spans }] }] }
}

beforeAll(async () => {
  await startStack()
  const veto = { replicationLagSeconds: 95, standby: { region: "north-2", warm: false } }
  approved = await completedExample()
  const scenarioRef = "incident/region-failover@1.1.0"
  declined = await completedExample({ scenarioRef, inputs: veto })
  const others = await Promise.all(Array.from({ length: 7 }, () => completedExample()))
  assert.lengthOf(others, 7)
  cheap = await completedExample({ scenarioRef, inputs: {} })
}, 6 * PATIENCE_MS)
afterAll(tearDown)

/** A page whose presses are counted. */
const counting = async (path: string) => {
  const { context, page } = await openPage({ width: 1440 })
  await go(page, path)
  let presses = 0
  return {
    page,
    press: async (locator: Locator) => {
      presses += 1
      await locator.click()
    },
    /** Ends the task: the promise of the documents is kept. */
    done: async (task: string) => {
      const promised = PROMISED.get(task)
      assert.isDefined(promised, task)
      assert.isAtMost(presses, promised ?? 0, task)
      await context.close()
    }
  }
}

const search = async (page: Page, q: string) => {
  const bar = page.getByRole("combobox", { name: "Search runs" })
  await bar.fill(q)
  await bar.press("Enter")
}

describe("the ten tasks take as many presses as the documents say", () => {
  it("finds the runs that an agent voted against, and why", async () => {
    const { done, page, press } = await counting("/runs")
    await search(page, "vote.replication-analyst:REJECT")
    await page.getByText("1 run", { exact: true }).waitFor()
    await press(page.locator(`a[href$="/runs/${declined}"]`))
    await page.getByRole("region", { name: "Decision card" }).getByText("Vetoed by replication-analyst").waitFor()
    await done("which runs did an agent vote against")
    const why = await counting("/runs")
    await why.press(why.page.locator(`a[href$="/runs/${declined}"]`))
    await why.page.getByRole("region", { name: "Decision card" }).getByText("Declined", { exact: true }).waitFor()
    await why.done("why did it end so")
  })

  it("compares two runs", async () => {
    const { done, page, press } = await counting("/runs")
    await page.locator(`a[href$="/runs/${declined}"]`).waitFor()
    const box = (id: string) => page.locator(`[role=row]:has(a[href$="/runs/${id}"]) input[type=checkbox]`)
    await press(box(approved))
    await press(box(declined))
    await press(
      page
        .getByRole("button", { name: "Compare" })
        .or(page.getByRole("link", { name: "Compare" }))
        .first()
    )
    await page.waitForURL(/\/compare\?/)
    await done("what differs between two runs")
  })

  it("judges runs by keys", async () => {
    const { done, page } = await counting("/review?name=correct")
    await page.locator("[data-progress]").getByText("reviewed by you").waitFor()
    const judged = new Set<string>()
    while (judged.size < 10) {
      await page.waitForURL((url) => !judged.has(url.searchParams.get("run") ?? ""))
      judged.add(new URL(page.url()).searchParams.get("run") ?? "")
      await page.locator("[data-stored=none]").waitFor()
      await page.locator("kbd", { hasText: /^1$/ }).waitFor()
      await page.keyboard.press("1")
      await page.locator("[data-stored=stored]").waitFor()
      await page.keyboard.press("n")
    }
    await page.locator("[data-progress]").getByText("10 reviewed by you").waitFor()
    assert.includeMembers([...judged], [cheap, declined, approved])
    await done("judge ten runs")
  })

  it("finds what a model cost, and in which runs", async () => {
    const { done, page, press } = await counting("/overview")
    const costs = page.getByRole("region", { name: "Cost by model" }).getByRole("table")
    await press(costs.locator("tbody tr").first().getByRole("link").first())
    await page.waitForURL(/q=model%3A/)
    await page.locator("[data-row='0']").waitFor()
    await done("what did a model cost, and in which runs")
  })

  it("finds the agent that is usually wrong", async () => {
    const { done, page, press } = await counting("/agents")
    await page.getByText(/^Votes, right votes by the marks/).waitFor()
    await press(page.getByRole("columnheader", { name: "Right" }).getByRole("button"))
    await page.locator("th[aria-sort=ascending]", { hasText: "Right" }).waitFor()
    const rights = await page.locator("tbody tr td:nth-child(4)").allTextContents()
    const known = rights.flatMap((text) => (/^\d+ %/.test(text) ? [Number.parseInt(text, 10)] : []))
    assert.isNotEmpty(known)
    assert.deepStrictEqual(
      known,
      known.toSorted((one, other) => one - other)
    )
    assert.match(rights[0] ?? "", /^\d+ % of \d+$/)
    await done("which agent is usually wrong")
  })

  it("sees the decisions with another outcome than in the week before", async () => {
    const { done, page } = await counting("/overview")
    await page.getByRole("region", { name: "Decided today" }).locator(`a[href$="/runs/${declined}"]`).first().waitFor()
    await done("what changed since last week")
  })

  it("tries a vote, and shares the screen by its address", async () => {
    const { done, page, press } = await counting(`/runs/${approved}`)
    await press(page.getByRole("button", { name: /try another vote$/ }).first())
    await page.locator("[data-what-if]").waitFor()
    const shared = await counting(new URL(page.url()).pathname.replace(/^.*\/console/, "") + new URL(page.url()).search)
    await shared.page.locator("[data-what-if]").waitFor()
    await shared.done("share what is on the screen")
    await done("what if one vote had been another")
  })

  it("adds an alert rule by its sentence, which says how often it would have fired", async () => {
    const { done, page, press } = await counting("/alerts")
    await press(page.getByRole("button", { name: "Add a rule" }))
    await page.getByLabel("Threshold of level 1").fill("1")
    await page.getByText(/^Would not have fired in the last 7 days/).waitFor()
    await press(page.getByRole("button", { name: "Add", exact: true }))
    await page.getByText("A run costs $1.00 or more").first().waitFor()
    await done("an alert for a run that costs more than $1")
    const traceId = crypto.randomUUID().replaceAll("-", "")
    const sent = await ask("POST", `${CONTROL_PLANE}/v1/traces`, expensiveTrace(traceId))
    assert.strictEqual(sent.status, 200, sent.text)
    // The run of a trace ends once its spans have settled, and its alert with it.
    for (let left = 100; left > 0; left--) {
      if ((await ask("GET", `${CONTROL_PLANE}/alerts`)).body.total > 0) break
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
    const seen = await counting("/alerts")
    const fired = seen.page.getByRole("region", { name: "Resolved lately" }).locator("a[href*='/runs/']")
    await fired.first().waitFor()
    await seen.done("an alert for a run that costs more than $1")
  })

  it("meets no identifier of the API on the pages that people read", async () => {
    const { page } = await counting("/")
    const raw =
      /\b(decision|quorum|task|handoff|proposal)\.(selected|rejected|accepted|declined|completed)\b|initiator_only|any_participant|designated_role|finalize_decline|critical_severity|costUsd|failureRate|n_of_m/
    const paths = [
      "/",
      "/runs",
      "/agents",
      "/alerts",
      "/stability",
      "/gates",
      "/marks",
      "/review?name=correct",
      "/policies",
      "/launch",
      "/webhooks",
      "/operations",
      `/runs/${declined}`,
      `/runs/${approved}?view=decision`
    ]
    for (const path of [...paths, `/compare?left=${approved}&right=${declined}`]) {
      await go(page, path)
      await page.locator("h1").first().waitFor()
      await page.waitForFunction(() => document.querySelector(".skeleton") === null)
      // A document in JSON has the words of the API.
      const text = await page.locator("main").evaluate((main) => {
        const copy = document.createElement("div")
        copy.innerHTML = main.innerHTML
        for (const json of copy.querySelectorAll("[data-json]")) json.remove()
        return copy.textContent
      })
      const at = text.search(raw)
      assert.strictEqual(at < 0 ? "" : text.slice(Math.max(0, at - 60), at + 60), "", path)
    }
    await page.context().close()
  })
})
