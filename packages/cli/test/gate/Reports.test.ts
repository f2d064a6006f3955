import { assert, describe, it } from "@effect/vitest"
import type { GateCheck, GateVerdict } from "@runplane/domain"
import * as Schema from "effect/Schema"
import type { CaseReport, GateReport } from "../../src/gate/GateReport.ts"
import { annotations, COMMENT_MARK, commentMarkdown, summaryMarkdown } from "../../src/gate/GitHub.ts"
import { junitXml } from "../../src/gate/JUnit.ts"
import { faultOfJUnit, readXml } from "./JUnitSchema.ts"

const check = (verdict: GateVerdict, message: string): GateCheck => ({ name: "agreement", verdict, message })

const caseOf = (name: string, message: string, verdict: GateVerdict = "fail"): CaseReport => ({
  file: "a,b:c.yaml",
  line: 7,
  name,
  scenarioRef: "p/s@1.0.0",
  verdict,
  checks: [check(verdict, message)],
  warnings: [`warning ${message}`],
  changes: [`prompt ${name} -> ${message}`],
  stability: {
    n: 20,
    excluded: { byReason: {} },
    outcomes: [{ action: name, positive: true, count: 13, share: 0.65 }],
    agreement: { rate: 0.65, low: 0.4, high: 0.8, method: "wilson", confidence: 0.95 },
    mindChanges: 0,
    cost: { p50: 0, p95: 0 },
    durationMs: { p50: 0, p95: 0 }
  },
  flips: [{ key: "k", count: 7, text: `${message} voted REJECT`, exampleLeft: "l", exampleRight: "r" }],
  runs: [{ runId: "r", outcome: message, page: "http://x/console/runs/r?a=1&b=2" }]
})
const report = (...cases: ReadonlyArray<CaseReport>): GateReport => ({ gate: "g", verdict: "fail", spentUsd: 0, cases })

/**
 * A command of a workflow step as the runner reads it: `::name key=value,key=value::data`, where data and values are
 * unescaped, `%25` last.
 */
const parsed = (line: string) => {
  const [, name, properties = "", data = ""] = /^::([a-z]+) (.*?)::(.*)$/s.exec(line) ?? []
  const unescaped = (text: string) => text.replace(/%0D/g, "\r").replace(/%0A/g, "\n")
  const ofProperty = (text: string) => unescaped(text).replace(/%3A/g, ":").replace(/%2C/g, ",").replace(/%25/g, "%")
  const pairs = properties.split(",").map((pair) => {
    const at = pair.indexOf("=")
    return [pair.slice(0, at), ofProperty(pair.slice(at + 1))] as const
  })
  return { name, properties: Object.fromEntries(pairs), data: unescaped(data).replace(/%25/g, "%") }
}

describe("annotations of GitHub", () => {
  it.prop(
    "are one line each, and the runner reads what was written",
    [Schema.String, Schema.String],
    ([name, text]) => {
      const lines = annotations(report(caseOf(name, text)))
      assert.strictEqual(lines.length, 2)
      const [error, warning] = lines.map(parsed)
      assert.notMatch(lines.join(""), /[\r\n]/)
      assert.deepStrictEqual(error, {
        name: "error",
        properties: { file: "a,b:c.yaml", line: "7", title: name },
        data: `${text}\n7 of 20 parted where ${text} voted REJECT`
      })
      assert.deepStrictEqual([warning?.name, warning?.data], ["warning", `warning ${text}`])
    }
  )

  it("are at most 10 of a kind", () => {
    const lines = annotations(report(...Array.from({ length: 30 }, (_, at) => caseOf(`c${at}`, "m"))))
    assert.strictEqual(lines.filter((line) => line.startsWith("::error")).length, 10)
    assert.strictEqual(lines.filter((line) => line.startsWith("::warning")).length, 10)
  })
})

describe("the summary of a step", () => {
  it("stays under 1 MiB", () => {
    const long = "x".repeat(10_000)
    const summary = summaryMarkdown(report(...Array.from({ length: 100 }, (_, at) => caseOf(`c${at}`, long))))
    assert.isBelow(Buffer.byteLength(summary), 1_048_576)
    assert.include(summary, "### Gate FAIL")
  })

  it("keeps a table with hostile names", () => {
    const rows = summaryMarkdown(report(caseOf("a|b\n<img>", "m"))).split("\n")
    assert.isTrue(rows.some((line) => line.startsWith("| a\\|b \\<img\\> | fail |")))
  })
})

describe("the comment of a pull request", () => {
  it("begins with what changed, why, and what it cost", () => {
    const lines = commentMarkdown({ ...report(caseOf("one", "m")), spentUsd: 2.4, maxCostUsd: 5 }).split("\n")
    assert.deepStrictEqual(lines.slice(0, 5), [
      COMMENT_MARK,
      "**one**: 13 of 20 runs one (positive); changed since the baseline: prompt one -\\> m; " +
        "7 of 20 parted where m voted REJECT; fail: m",
      "",
      "Cost: $2.40 of $5.00.",
      ""
    ])
    assert.include(lines.join("\n"), "### Gate FAIL")
  })

  it("has no sentence for a case that passes as before", () => {
    const quiet = { ...caseOf("one", "m", "pass"), changes: [] }
    assert.strictEqual(commentMarkdown(report(quiet)).split("\n")[1], "Cost: $0.0000.")
  })

  it("stays under the limit of GitHub, and says that it is cut", () => {
    const long = "x".repeat(5_000)
    const comment = commentMarkdown(report(...Array.from({ length: 12 }, (_, at) => caseOf(`c${at}`, long))))
    assert.isBelow(Buffer.byteLength(comment), 65_536)
    assert.include(comment, "The rest is left out")
    assert.include(comment, " more cases of this kind.")
  })
})

describe("JUnit XML", () => {
  it("has a suite for each file and a test case for each expectation", () => {
    const suites = readXml(
      junitXml(report(caseOf("one", "m"), caseOf("two", "m", "inconclusive"), caseOf("three", "m", "pass")))
    )
    const [suite] = suites.children
    assert.deepStrictEqual(suite?.attributes, {
      name: "a,b:c.yaml",
      tests: "3",
      failures: "1",
      errors: "0",
      skipped: "1"
    })
    assert.deepStrictEqual(
      suite?.children.map(({ attributes, children }) => [attributes["classname"], children.map(({ name }) => name)]),
      [
        ["one", ["failure", "system-out"]],
        ["two", ["skipped", "system-out"]],
        ["three", ["system-out"]]
      ]
    )
    const failure = suite?.children[0]?.children[0]
    assert.strictEqual(failure?.text, "m\n7 of 20 parted where m voted REJECT")
  })

  it.prop("is valid by its schema, whatever the texts are", [Schema.String, Schema.String], ([name, text]) => {
    for (const verdict of ["pass", "fail", "inconclusive"] as const) {
      assert.isUndefined(faultOfJUnit(junitXml(report(caseOf(name, text, verdict)))))
    }
  })

  it("is refused by the schema with another element, attribute, order or count", () => {
    for (const wrong of [
      "<testsuites><suite/></testsuites>",
      '<testsuites><testsuite name="a" tests="x" failures="0" errors="0" skipped="0"/></testsuites>',
      '<testsuites><testsuite tests="0" failures="0" errors="0" skipped="0"/></testsuites>',
      '<testsuites><testsuite name="a" tests="1" failures="0" errors="0" skipped="0"><testcase classname="c" name="n"><system-out/><skipped/></testcase></testsuite></testsuites>'
    ]) {
      assert.isDefined(faultOfJUnit(wrong), wrong)
    }
  })
})
