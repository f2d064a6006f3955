import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { Locator, Page } from "playwright-core"
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
  violationsOf
} from "./Stage.ts"

beforeAll(startStack, 2 * PATIENCE_MS)
afterAll(tearDown)

interface Case {
  readonly path: string
  /** Text of the empty page. */
  readonly empty: RegExp
  /** What it says when it cannot be read. */
  readonly broken: string
  /** The calls that it is about. */
  readonly calls: RegExp
  /** An answer of a service that has nothing, where that of a fresh one has something. */
  readonly none?: unknown
}

const CASES: Readonly<Record<string, Case>> = {
  overview: {
    path: "/overview",
    empty: /The table shows outcomes.*launch a scenario/,
    broken: "The overview cannot be read",
    calls: /^\/dashboard\/overview/
  },
  events: {
    path: "/events",
    empty: /The events of all runs appear here.*Launch a scenario/,
    broken: "The events cannot be followed",
    calls: /^\/events/
  },
  agents: {
    path: "/agents",
    empty: /A participant appears here.*Launch a scenario/,
    broken: "The participants cannot be read",
    calls: /^\/dashboard\/agents/
  },
  policies: {
    path: "/policies",
    empty: /A policy defines which votes.*Register the first one/,
    broken: "The policies cannot be read",
    calls: /^\/runtime\/policies/,
    none: []
  },
  webhooks: {
    path: "/webhooks",
    empty: /An endpoint receives an event when a run starts/,
    broken: "The webhooks cannot be read",
    calls: /^\/webhooks/
  },
  audit: {
    path: "/audit",
    empty: /The log lists every change of a run/,
    broken: "The audit log cannot be read",
    calls: /^\/audit/,
    none: { data: [], total: 0, limit: 100, offset: 0 }
  },
  operations: {
    path: "/operations",
    empty: /no difference/,
    broken: "The breaker cannot be read",
    calls: /^\/admin\/circuit-breaker/
  },
  compare: {
    path: "/compare",
    empty: /The page shows the first difference.*Search by id/,
    broken: "The runs cannot be compared",
    calls: /^\/runs\/compare/
  }
}

const settle = (page: Page) => page.waitForFunction(() => document.querySelector(".skeleton") === null)

/** The calls of a page to the API; its own files are left alone. */
const callsOf = (calls: RegExp) => (url: URL) => url.origin === CONTROL_PLANE && calls.test(url.pathname)

type Answer = (page: Page, calls: RegExp) => Promise<unknown>

const answers =
  (status: number, errorCode: string): Answer =>
  (page, calls) =>
    page.route(callsOf(calls), (route) =>
      route.fulfill({ status, json: { statusCode: status, errorCode, message: "made by the test" } })
    )

/** What the page says of it: the code where the contract has one for the call, else the status. */
type Fault = readonly [said: RegExp, answer: Answer]

const REFUSED: Fault = [/^(FORBIDDEN|HTTP 403)$/, answers(403, "FORBIDDEN")]
const FAILED: Fault = [/^(INTERNAL_ERROR|HTTP 500)$/, answers(500, "INTERNAL_ERROR")]
/** Faults that pass: the page retries a few times before it shows them. Each page meets one of them. */
const PASSING: ReadonlyArray<Fault> = [
  [/^(INTERNAL_ERROR|HTTP 429)$/, answers(429, "INTERNAL_ERROR")],
  [/^(SERVICE_UNAVAILABLE|HTTP 503)$/, answers(503, "SERVICE_UNAVAILABLE")],
  [/^UNREACHABLE$/, (page, calls) => page.route(callsOf(calls), (route) => route.abort("connectionreset"))]
]

/** Does it for every case, some pages side by side. */
const sideBySide = async <A>(items: ReadonlyArray<A>, visit: (item: A) => Promise<void>): Promise<void> => {
  const left = [...items]
  const worker = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await visit(item)
  }
  await Promise.all(Array.from({ length: 4 }, worker))
}

let first: Promise<string> | undefined
/** A run that has completed, the same for every test that asks. */
const decided = (): Promise<string> => (first ??= completedExample())

describe("pages that have nothing, or cannot have it", () => {
  it(
    "say what they are for and what to do, while there is nothing",
    async () => {
      await sideBySide(Object.entries(CASES), async ([name, { calls, empty, none, path }]) => {
        const { context, misdeeds, page } = await openPage()
        if (none !== undefined) await page.route(callsOf(calls), (route) => route.fulfill({ json: none }))
        await go(page, path)
        await page.getByText(empty).locator("visible=true").first().waitFor()
        await settle(page)
        await picture(page, `empty-${name}-1280-light`)
        assert.strictEqual(await page.locator(".uplot").count(), 0, `${name} has an empty chart`)
        const heads = await page.locator("[role=table]:not(:has([data-seq])) [role=columnheader]:visible").count()
        assert.strictEqual(heads, 0, `${name} has a lone header`)
        assert.deepStrictEqual(await violationsOf(page), [], name)
        assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] }, name)
        await context.close()
      })
    },
    4 * PATIENCE_MS
  )

  it(
    "show the error and its request id, and continue when the service answers again",
    async () => {
      const [left, right] = [await decided(), await completedExample()]
      const positions = Object.entries(CASES).map(
        ([name, kind], number) =>
          [
            name,
            PASSING[number % PASSING.length] ?? FAILED,
            name === "compare" ? { ...kind, path: `/compare?left=${left}&right=${right}` } : kind
          ] as const
      )
      await sideBySide(positions, async ([name, passing, { broken, calls, path }]) => {
        const { context, misdeeds, page } = await openPage()
        for (const [said, breaks] of [REFUSED, FAILED, passing]) {
          const at = `${name} ${said}`
          await breaks(page, calls)
          await go(page, path)
          const alert = page.getByRole("alert").filter({ hasText: broken }).first()
          await alert.getByText(said).waitFor()
          await alert.getByText("copy request id").waitFor({ state: "attached" })
          assert.deepStrictEqual(await violationsOf(page), [], at)
          if (said === REFUSED[0]) await picture(page, `broken-${name}-1280-light`)
          await page.unrouteAll()
          // What polls may have gone on by itself before the button is reached.
          await Promise.race([alert.getByRole("button", { name: "Try again" }).click(), gone(alert)])
          await gone(alert)
        }
        assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] }, name)
        await context.close()
      })
    },
    6 * PATIENCE_MS
  )

  it(
    "keep what was read before, say how old it is, and renew it",
    async () => {
      await ask("POST", `${CONTROL_PLANE}/webhooks`, {
        url: `${CONTROL_PLANE}/nowhere`,
        events: [],
        secret: "of the tests"
      })
      const kept: Readonly<Record<string, string>> = {
        overview: "[data-trend] canvas",
        agents: "tbody tr",
        policies: "[aria-label='Policies by mode'] li",
        webhooks: "tbody tr",
        audit: "[role=row][aria-rowindex]",
        operations: "td:has-text('initial')"
      }
      await sideBySide(Object.entries(kept), async ([name, what]) => {
        const { context, misdeeds, page } = await openPage()
        await go(page, `/${name}`)
        const thing = page.locator(what).first()
        await thing.waitFor()
        const calls = CASES[name]?.calls ?? /^$/
        await answers(500, "INTERNAL_ERROR")(page, calls)
        const stale = page
          .locator("[data-stale]")
          .filter({ hasText: /As of.*(made by the test|500)/ })
          .first()
        await lookAgain(page, stale)
        await stale.getByText("copy request id").waitFor({ state: "attached" })
        assert.isTrue(await thing.isVisible(), name)
        assert.deepStrictEqual(await violationsOf(page), [], name)
        await picture(page, `stale-${name}-1280-light`)
        await page.unrouteAll()
        await Promise.race([stale.getByRole("button", { name: "Try again" }).click(), gone(stale)])
        await gone(stale)
        assert.isTrue(await thing.isVisible(), name)
        assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] }, name)
        await context.close()
      })
    },
    4 * PATIENCE_MS
  )

  it("keep earlier events while the log cannot be followed, and follow it again", async () => {
    const { context, misdeeds, page } = await openPage()
    await decided()
    const stream = callsOf(/^\/events\/stream/)
    const { data } = (await ask("GET", `${CONTROL_PLANE}/events?limit=1000`)).body
    const heartbeat = { ts: new Date(0).toISOString(), seq: data.at(-1).seq }
    let connections = 0
    await page.route(stream, (route) =>
      connections++ === 0
        ? route.fulfill({
            contentType: "text/event-stream",
            body: `event: heartbeat\ndata: ${JSON.stringify(heartbeat)}\n\n`
          })
        : route.fulfill({ status: 503, json: { statusCode: 503, errorCode: "SERVICE_UNAVAILABLE", message: "away" } })
    )
    await go(page, "/events")
    const stale = page.locator("[data-stale]").filter({ hasText: "503" })
    await stale.waitFor()
    await page.locator("[data-seq]").first().waitFor()
    assert.deepStrictEqual(await violationsOf(page), [])
    await page.unrouteAll()
    await gone(stale)
    await page.locator("[data-light='live']").locator("visible=true").first().waitFor()
    await page.locator("[data-seq]").first().waitFor()
    assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
    await context.close()
  })
})

const gone = (element: { readonly waitFor: (options: { readonly state: "detached" }) => Promise<void> }) =>
  element.waitFor({ state: "detached" })

/** Comes back to the page, as from another tab, until it has read anew: what was just read is not read again. */
const lookAgain = async (page: Page, until: Locator): Promise<void> => {
  const seen = until.waitFor()
  let isSeen = false
  const ended = seen.finally(() => {
    isSeen = true
  })
  while (!isSeen) {
    await page.evaluate(() => window.dispatchEvent(new Event("visibilitychange")))
    await Promise.race([ended, page.waitForTimeout(500)])
  }
  await ended
}
