import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { Page } from "playwright-core"
import { scrollsSmoothly } from "./Frames.ts"
import {
  ask,
  CONTROL_PLANE,
  go,
  light,
  openPage,
  PATIENCE_MS,
  picture,
  startStackWith,
  tearDown,
  violationsOf
} from "./Stage.ts"

const TRACE = "ab".repeat(16)
const OTHER_TRACE = "cd".repeat(16)
const BEGIN_MS = Date.now() - 60_000
const idOf = (number: number) => number.toString(16).padStart(16, "0")

interface Sent {
  readonly id: number
  readonly parent?: number
  readonly name: string
  readonly from: number
  readonly to: number
  readonly attributes?: Readonly<Record<string, string | number>>
  readonly error?: string
}

const otlpValue = (value: string | number) => (typeof value === "number" ? { intValue: value } : { stringValue: value })

const spanOf = ({ attributes = {}, error, from, id, name, parent, to }: Sent, traceId = TRACE) => ({
  traceId,
  spanId: idOf(id),
  ...(parent !== undefined && { parentSpanId: idOf(parent) }),
  name,
  kind: 1,
  startTimeUnixNano: `${BEGIN_MS + from}000000`,
  endTimeUnixNano: `${BEGIN_MS + to}000000`,
  attributes: Object.entries(attributes).map(([key, value]) => ({ key, value: otlpValue(value) })),
  status: error === undefined ? {} : { code: 2, message: error }
})

const agent = (name: string) => ({ "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name })
const SPANS: ReadonlyArray<Sent> = [
  { id: 1, name: "invoke_agent coordinator", from: 0, to: 2_000, attributes: agent("coordinator") },
  { id: 2, parent: 1, name: "turn", from: 100, to: 1_900 },
  {
    id: 3,
    parent: 2,
    name: "chat gpt-4o",
    from: 200,
    to: 1_200,
    attributes: {
      "gen_ai.operation.name": "chat",
      "gen_ai.request.model": "gpt-4o",
      "gen_ai.usage.input_tokens": 1_000,
      "gen_ai.usage.output_tokens": 100
    }
  },
  {
    id: 4,
    parent: 2,
    name: "execute_tool scan",
    from: 1_300,
    to: 1_800,
    error: "no answer",
    attributes: {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "scan"
    }
  }
]

/** Spans of an instrumentation that no family reads. */
const UNREAD: ReadonlyArray<Sent> = [2, 3].map((id) => ({
  ...{ id, parent: 1, name: "acme.step", from: 10, to: 20 },
  attributes: { "acme.kind": "llm", "acme.tokens": 900 }
}))

let runId = ""
let otherRunId = ""

/** The id of the run of a root agent, when it has ended. */
const endedRun = async (scenario: string): Promise<string> => {
  for (let left = 100; left > 0; left--) {
    const { body } = await ask("GET", `${CONTROL_PLANE}/runs?q=status:completed+scenario:${scenario}`)
    const id: string | undefined = body.data.at(0)?.id
    if (id !== undefined) return id
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  throw new Error(`no run of ${scenario} has ended`)
}

beforeAll(async () => {
  await startStackWith({ OTLP_SETTLE_MS: "300" })
  const resource = { attributes: [{ key: "service.name", value: { stringValue: "committee" } }] }
  const send = async (...scopes: ReadonlyArray<readonly [name: string, spans: ReadonlyArray<object>]>) => {
    const scopeSpans = scopes.map(([name, spans]) => ({ scope: { name }, spans }))
    const sent = await ask("POST", `${CONTROL_PLANE}/v1/traces`, { resourceSpans: [{ resource, scopeSpans }] })
    assert.strictEqual(sent.status, 200, sent.text)
  }
  await send(["test", SPANS.map((span) => spanOf(span))])
  await send(
    ["test", [spanOf({ id: 1, name: "invoke_agent lone", from: 0, to: 90, attributes: agent("lone") }, OTHER_TRACE)]],
    ["acme.tracer", UNREAD.map((span) => spanOf(span, OTHER_TRACE))]
  )
  runId = await endedRun("coordinator")
  otherRunId = await endedRun("lone")
}, 4 * PATIENCE_MS)
afterAll(tearDown)

const rowsOf = async (page: Page) => {
  const rows = await page.locator("[role=treegrid] [data-span]").all()
  return Promise.all(
    rows.map(async (row) => [await row.getAttribute("aria-level"), await row.getAttribute("data-span")])
  )
}

describe("the spans of a run in a browser", () => {
  it(
    "are a tree with sums, which keys open and close",
    async () => {
      const { context, misdeeds, page } = await openPage({ width: 1440 })
      await go(page, `/runs/${runId}?view=traces`)
      await light(page, "complete")
      await page.locator("[data-spans]").getByText("4", { exact: true }).waitFor()
      assert.deepStrictEqual(await rowsOf(page), [
        ["1", "invoke_agent coordinator"],
        ["2", "turn"],
        ["3", "chat gpt-4o"],
        ["3", "execute_tool scan"]
      ])
      const root = page.locator("[data-span='invoke_agent coordinator']")
      await root.getByText("1,100").waitFor()
      await root.getByText("2.0 s").waitFor()
      await root.getByText("200 ms").waitFor()
      await page.locator("[data-span='execute_tool scan']").getByLabel("failed").waitFor()
      const bar = page.locator("[data-span='chat gpt-4o'] [data-bar]")
      const [outer, inner] = [await root.locator("[data-bar]").boundingBox(), await bar.boundingBox()]
      assert.closeTo((inner?.width ?? 0) / (outer?.width ?? 1), 0.5, 0.02)

      const tree = page.getByRole("treegrid")
      await tree.focus()
      for (const key of ["Home", "ArrowDown", "ArrowLeft"]) await page.keyboard.press(key)
      assert.strictEqual((await rowsOf(page)).length, 2)
      for (const key of ["ArrowRight", "ArrowRight", "ArrowDown", "Enter"]) await page.keyboard.press(key)
      await page.getByLabel("The chosen span").getByText("no answer").waitFor()
      assert.match(page.url(), /event=\d+/)
      await page.getByRole("button", { name: "Close all" }).click()
      assert.strictEqual((await rowsOf(page)).length, 2)
      await page.getByRole("button", { name: "Open all" }).click()
      await page.getByRole("button", { name: "Total" }).click()
      await page.waitForURL(/spans=total/)
      await picture(page, "traces-tree")
      assert.deepStrictEqual(await violationsOf(page), [])
      assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
      await context.close()
    },
    2 * PATIENCE_MS
  )

  it(
    "that were not understood are named above every view",
    async () => {
      const { context, page } = await openPage({ width: 1440 })
      await go(page, `/runs/${otherRunId}`)
      await light(page, "complete")
      await page
        .getByText("2 spans of acme.tracer were not understood: the agents, calls and costs that they report")
        .waitFor()
      await picture(page, "spans-not-understood")
      await go(page, `/runs/${runId}`)
      await light(page, "complete")
      assert.strictEqual(await page.getByText("not understood").count(), 0)
      assert.deepStrictEqual(await violationsOf(page), [])
      await context.close()
    },
    2 * PATIENCE_MS
  )

  it(
    "are scrolled through without dropping frames when there are 20,000",
    async () => {
      const { context, page } = await openPage()
      const data = Array.from({ length: 20_000 }, (_, at) => ({
        traceId: TRACE,
        spanId: idOf(at + 1),
        ...(at > 0 && { parentSpanId: idOf(Math.floor(at / 3) + 1) }),
        name: `step ${at}`,
        kind: at % 3 === 0 ? "agent" : "other",
        startedAtUnixMs: BEGIN_MS + at,
        durationMs: 20_000 - at,
        ok: at % 100 !== 0
      }))
      await page.route(/\/spans\?/, (route) => {
        const { searchParams } = new URL(route.request().url())
        const [after, limit] = [Number(searchParams.get("after")), Number(searchParams.get("limit"))]
        const part = data.slice(after, after + limit)
        return route.fulfill({ json: { data: part, nextCursor: after + part.length, hasMore: part.length === limit } })
      })
      await go(page, `/runs/${runId}?view=traces`)
      await page.locator("[data-spans]").getByText("20,000").waitFor()
      await scrollsSmoothly(page, { name: "20,000 spans", selector: "[role=treegrid]", step: 300 })
      await context.close()
    },
    4 * PATIENCE_MS
  )
})
