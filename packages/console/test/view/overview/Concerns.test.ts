import { assert, describe, it } from "@effect/vitest"
import { type Answers, attentionSentence, concernsOf } from "../../../src/view/overview/Concerns.ts"

const fine: Answers = {
  ready: {
    checks: {
      ...{ circuitBreaker: "CLOSED", database: "ok", log: { ok: true }, runtime: { ok: true }, streamConsumer: "ok" }
    }
  },
  alerts: { total: 0, data: [] },
  figures: { failedRuns: 0, suspendedRuns: 0, lostSessions: 0 },
  outlier: null,
  stuck: { ids: [], looked: 0, of: 0 },
  silent: { ids: [], looked: 0, of: 0 },
  refusals: 0,
  drift: { missingFromRuntime: null, untrackedSessions: [] },
  hooks: []
}
const links = { runs: (search: string) => `/runs?q=${search}`, unfinished: "/runs?unfinished" }
const of = (more: Partial<Answers>) => concernsOf({ ...fine, ...more }, links)

const checked = { concerns: [], unread: [], isPending: false, since: 1_000, now: 5_000 }

describe("what needs attention", () => {
  it("is nothing while all is well", () => {
    assert.deepStrictEqual(of({}), [])
  })

  it("is ordered by what it costs to wait", () => {
    const alert = { id: "a1", ruleName: "Budget", severity: "critical" }
    const found = of({
      ready: {
        checks: { ...fine.ready!.checks, runtime: { ok: false, detail: "refused" }, log: { ok: false, detail: "9 s" } }
      },
      hooks: [
        { id: "h1", url: "http://a", active: false },
        { id: "h2", url: "http://b", active: true, deliveryStats: { failed: 2 } }
      ],
      alerts: { total: 1, data: [alert] },
      figures: { failedRuns: 3, suspendedRuns: 1, lostSessions: 0 },
      outlier: { id: "r9", costUsd: 2, mean: 0.1, title: "Dear one" },
      refusals: 2,
      drift: { missingFromRuntime: [{}], untrackedSessions: [] }
    })
    assert.deepStrictEqual(
      found.map(({ id }) => id),
      ["runtime", "log", "alerts", "suspended", "failed", "denied", "cost", "hook-h2", "missing", "hook-h1"]
    )
    assert.strictEqual(found[2]?.href, "/alerts?id=a1")
    const warning = of({
      figures: { ...fine.figures, failedRuns: 1 },
      alerts: { total: 1, data: [{ ...alert, severity: "warning" }] }
    })
    assert.deepStrictEqual(
      warning.map(({ id }) => id),
      ["failed", "alerts"]
    )
  })

  it("says when it has not looked at all runs, and what a figure of refusals can see", () => {
    const [some] = of({ stuck: { ids: ["r1", "r2"], looked: 8, of: 140 } })
    assert.strictEqual(some?.text, "2 of the 8 latest running runs (of 140) can no longer reach a positive outcome")
    const [all] = of({ stuck: { ids: ["r1"], looked: 5, of: 5 } })
    assert.deepInclude(all, {
      text: "1 running run can no longer reach a positive outcome",
      href: "/runs/r1?view=decision"
    })
    const [refusal] = of({ refusals: 2 })
    assert.strictEqual(
      refusal?.text,
      "2 refusals by policy on record in this time; the runtime reports a refused commitment only to its sender"
    )
  })

  it("is one sentence, green only when every check has a current answer", () => {
    assert.deepStrictEqual(attentionSentence(checked), { tone: "good", text: "All is well", age: "checked 4 s ago" })
    assert.deepStrictEqual(attentionSentence({ ...checked, isPending: true }), {
      tone: "calm",
      text: "Checking whether something needs you"
    })
    assert.deepStrictEqual(attentionSentence({ ...checked, unread: ["alerts", "webhooks"] }), {
      tone: "warn",
      text: "Not everything could be read: alerts, webhooks"
    })
    const [failed] = of({ figures: { ...fine.figures, failedRuns: 2 } })
    const [denied] = of({ refusals: 1 })
    assert(failed !== undefined && denied !== undefined)
    assert.deepStrictEqual(attentionSentence({ ...checked, concerns: [failed, denied] }), {
      tone: "bad",
      text: "2 things need you"
    })
    assert.deepStrictEqual(attentionSentence({ ...checked, concerns: [denied], unread: ["alerts"] }), {
      tone: "warn",
      text: "1 thing needs you, and not everything could be read: alerts"
    })
  })
})
