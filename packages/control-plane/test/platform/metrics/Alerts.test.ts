import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Loops } from "@runplane/server"
import * as Effect from "effect/Effect"
import { Metrics } from "../../../src/platform/metrics/Metrics.ts"
import { idle } from "../../support/ScrapedValues.ts"

const DOCKER = join(import.meta.dirname, "../../../../../docker")
const rules = readFileSync(join(DOCKER, "helm/runplane/files/rules.yml"), "utf8")
const tests = readFileSync(join(DOCKER, "monitoring/rules.test.yml"), "utf8")

/** Prometheus adds them to what it scrapes. */
const ADDED_LABELS = new Set(["job", "instance"])

interface Series {
  readonly name: string
  readonly labels: ReadonlyMap<string, string>
}

const labelsOf = (text: string) => [...text.matchAll(/(\w+)(=~|!~|!=|=)"((?:[^"\\]|\\.)*)"/g)]

/** What a control plane exports that has only answered one request with an error, and refused an export. */
const exported = Effect.gen(function* () {
  const metrics = yield* Metrics
  const request = { requestId: "r1", caller: undefined, address: "192.0.2.1", id: undefined }
  metrics.httpRequest({ ...request, method: "GET", route: "/runs", status: 500, seconds: 0.1 })
  metrics.otlpTooLarge("team")
  const loops = yield* Loops
  loops.open("ledger", 60_000, 0)
  loops.open("webhooks", 60_000, 0)
  const text = yield* metrics.scrape(idle)
  return [...text.matchAll(/^([a-z_]+)(?:\{(.*)\})? \S+$/gm)].map(
    ([, name = "", labels = ""]): Series => ({
      name,
      labels: new Map(labelsOf(labels).map(([, label = "", , value = ""]) => [label, value]))
    })
  )
})

/** The selectors of metrics in the text: their name, and the matchers of labels that the service sets. */
const selectorsOf = (text: string) =>
  [...text.matchAll(/\b([a-z]+(?:_[a-z0-9]+)+)(\{[^}]*\}|\[|(?= [>=]| offset| unless|\)|$))/gm)].map(
    ([whole, name = "", matchers = ""]) => ({
      whole,
      name,
      matchers: labelsOf(matchers).filter(([, label = ""]) => !ADDED_LABELS.has(label))
    })
  )

const accepts = (operator: string, wanted: string, value: string | undefined) => {
  const matches = operator.includes("~") ? new RegExp(`^(?:${wanted})$`).test(value ?? "") : value === wanted
  return value !== undefined && (operator.startsWith("!") ? !matches : matches)
}

const matchedBy = (series: ReadonlyArray<Series>, { matchers, name }: ReturnType<typeof selectorsOf>[number]) =>
  series.some(
    (one) =>
      one.name === name &&
      matchers.every(([, label = "", operator = "", wanted = ""]) => accepts(operator, wanted, one.labels.get(label)))
  )

const expressions = [...rules.matchAll(/expr: (?:\|\n)?((?:.*\n)(?: {10,}.*\n)*)/g)].map(([, text = ""]) => text)

describe("the alerts", () => {
  it.effect("select series that a control plane exports from its start", () =>
    Effect.gen(function* () {
      const series = yield* exported
      const selectors = expressions.flatMap(selectorsOf)
      assert.isAtLeast(selectors.length, 20)
      const names = new Set(selectors.map(({ name }) => name))
      assert.isAtLeast(names.size, 10)
      const missing = selectors.filter((selector) => !matchedBy(series, selector)).map(({ whole }) => whole)
      assert.deepStrictEqual(missing, [])
    }).pipe(Effect.provide(Metrics.layer))
  )

  it.effect("are tried with series that a control plane exports", () =>
    Effect.gen(function* () {
      const series = yield* exported
      const inputs = [...tests.matchAll(/series: (.*)/g)].map(([, text = ""]) => text)
      assert.isAbove(inputs.length, 20)
      const unknown = inputs
        .filter((text) => !text.startsWith("up{"))
        .filter((text) => {
          const name = text.slice(0, text.indexOf("{"))
          const labels = labelsOf(text).map(([, label = ""]) => label)
          const own = labels.filter((label) => !ADDED_LABELS.has(label))
          return !series.some((one) => one.name === name && own.every((label) => one.labels.has(label)))
        })
      assert.deepStrictEqual(unknown, [])
    }).pipe(Effect.provide(Metrics.layer))
  )

  it("fire and resolve in their tests", () => {
    const alerts = [...rules.matchAll(/alert: (\S+)/g)].map(([, alert]) => alert)
    const tried = tests.split("\n  - name: ").flatMap((test) => {
      const evaluated = [...test.matchAll(/alertname: (\S+)\n +exp_alerts:( \[\])?/g)]
      return evaluated.flatMap(([, alert, none], at) =>
        none === undefined && evaluated.slice(at + 1).some(([, other, empty]) => other === alert && empty !== undefined)
          ? [alert]
          : []
      )
    })
    assert.isAbove(alerts.length, 8)
    assert.sameMembers([...new Set(tried)], alerts)
  })
})
