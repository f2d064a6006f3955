import { readdirSync, readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { LATER_MS, OFTEN_MS, SOON_MS } from "../../../src/view/live/Polls.ts"

const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8")
const PAGES = "../../../src/pages/"
const [, LIMIT = ""] =
  /`THROTTLE_LIMIT` \|[^|]+\| `(\d+)`/.exec(read("../../../../../docs/reference/settings.md")) ?? []

/** Requests of each window for what a user opens within the minute. */
const OPENED = 10
const intervals = { SOON_MS, OFTEN_MS, LATER_MS }
/** Polls of more than one request: the runs without events, and those that are out of reach with their forecasts. */
const MORE_REQUESTS = { overview: 1 + 8 }

/** Requests a minute of a page with every part of it open, as its sources say. */
const requestsOf = (page: string): number => {
  const sources = readdirSync(new URL(`${PAGES}${page}`, import.meta.url), { recursive: true, encoding: "utf8" })
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => read(`${PAGES}${page}/${path}`))
  const polls = sources.flatMap((source) =>
    Object.entries(intervals).flatMap(([name, ms]) =>
      [...source.matchAll(new RegExp(`(everyMs: |refetchInterval: .*)${name}`, "g"))].map(() => 60_000 / ms)
    )
  )
  return polls.reduce((sum, requests) => sum + requests, page === "overview" ? MORE_REQUESTS.overview : 0)
}

describe("the polls of a page", () => {
  for (const page of ["overview", "operations", "run", "webhooks", "agents", "policies", "audit"]) {
    it(`leave two open windows of ${page} under the default limit of requests a minute`, () => {
      assert.isAbove(requestsOf(page), 0)
      assert.isAtMost(2 * (requestsOf(page) + OPENED), Number(LIMIT))
    })
  }

  it("leave a window of Operations and one of Overview under it, with one fresh poll each", () => {
    const both = requestsOf("overview") + requestsOf("operations")
    assert.isAtMost(both + 2 * OPENED, 0.8 * Number(LIMIT))
  })
})
