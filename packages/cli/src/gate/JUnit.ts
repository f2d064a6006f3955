import type { GateCheck } from "@runplane/domain"
import type { CaseReport, GateReport } from "./GateReport.ts"
import { flipText } from "./StabilityLines.ts"

/** Characters that XML 1.0 does not have, lone surrogates among them. */
const NOT_XML = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu
const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\n": "&#10;",
  "\r": "&#13;",
  "\t": "&#9;"
}

const xml = (text: string): string =>
  text.replace(NOT_XML, "\uFFFD").replace(/[&<>"\n\r\t]/g, (character) => ENTITIES[character] ?? character)

/** The report as JUnit XML: a suite for each file, a test case for each expectation of a case. */
export const junitXml = ({ cases }: GateReport): string => {
  const suites = [...Map.groupBy(cases, ({ file }) => file)].map(([file, ofFile]) => suiteXml(file, ofFile))
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join("\n")}\n</testsuites>\n`
}

const suiteXml = (file: string, cases: ReadonlyArray<CaseReport>): string => {
  const checks = cases.flatMap((one) => one.checks)
  const count = (verdict: GateCheck["verdict"]) => checks.filter((check) => check.verdict === verdict).length
  const counts = `tests="${checks.length}" failures="${count("fail")}" errors="0" skipped="${count("inconclusive")}"`
  return [
    `  <testsuite name="${xml(file)}" ${counts}>`,
    ...cases.flatMap((one) => one.checks.map((check) => testXml(one, check))),
    "  </testsuite>"
  ].join("\n")
}

const testXml = (one: CaseReport, { message, name, verdict }: GateCheck): string => {
  const [cause] = one.flips
  const text = [message, ...(cause === undefined ? [] : [flipText(cause, one.stability)])].join("\n")
  const links = one.runs.map(({ outcome, page, runId }) => `${page ?? runId} ${outcome}`).join("\n")
  return [
    `    <testcase classname="${xml(one.name)}" name="${xml(name)}">`,
    ...(verdict === "fail" ? [`      <failure message="${xml(message)}">${xml(text)}</failure>`] : []),
    ...(verdict === "inconclusive" ? [`      <skipped message="${xml(message)}"/>`] : []),
    ...(links === "" ? [] : [`      <system-out>${xml(links)}</system-out>`]),
    "    </testcase>"
  ].join("\n")
}
