import { outcomeText } from "@runplane/domain"
import type { CaseReport, GateReport } from "./GateReport.ts"
import { flipText } from "./StabilityLines.ts"

/** Annotations of one kind that a step of GitHub shows. */
const MOST_OF_A_KIND = 10
/** Bytes of a summary; GitHub refuses more than 1 MiB. */
const MOST_SUMMARY_BYTES = 1_000_000

const data = (text: string): string => text.replace(/%/g, "%25").replace(/\r/g, "%0D").replace(/\n/g, "%0A")
const property = (text: string): string => data(text).replace(/:/g, "%3A").replace(/,/g, "%2C")

const annotation = (kind: "error" | "warning", { file, line, name }: CaseReport, message: string): string =>
  `::${kind} file=${property(file)},line=${line},title=${property(name)}::${data(message)}`

/** Workflow commands at the lines of the cases: errors, then warnings, at most 10 of each. */
export const annotations = ({ cases }: GateReport): ReadonlyArray<string> => {
  const ofVerdict = (kind: "error" | "warning", verdict: "fail" | "inconclusive") =>
    cases.flatMap((one) =>
      one.checks
        .filter((check) => check.verdict === verdict)
        .map(({ message }) => {
          const [cause] = one.flips
          return annotation(kind, one, cause === undefined ? message : `${message}\n${flipText(cause, one.stability)}`)
        })
    )
  const warnings = cases.flatMap((one) => one.warnings.map((warning) => annotation("warning", one, warning)))
  return [
    ...ofVerdict("error", "fail").slice(0, MOST_OF_A_KIND),
    ...[...ofVerdict("warning", "inconclusive"), ...warnings].slice(0, MOST_OF_A_KIND)
  ]
}

const cell = (text: string): string => text.replace(/[\\|`<>*_[\]]/g, "\\$&").replace(/\s+/g, " ")

/** The report as Markdown, for the summary of a step; cut at a line below the limit of GitHub. */
export const summaryMarkdown = (report: GateReport): string => {
  const lines = [
    `### Gate ${report.verdict.toUpperCase()}`,
    "",
    ...(report.page === undefined ? [] : [`[All runs of the gate](${report.page})`, ""]),
    "| case | verdict | outcomes | causes of flips |",
    "| ---- | ------- | -------- | --------------- |",
    ...report.cases.map((one) => {
      const outcomes = one.stability.outcomes.map((outcome) => `${outcome.count} ${outcomeText(outcome)}`).join(", ")
      const causes = one.flips.map((flip) => flipText(flip, one.stability)).join("; ")
      return `| ${[one.name, one.verdict, outcomes, causes].map(cell).join(" | ")} |`
    }),
    "",
    ...report.cases.flatMap((one) => [
      ...one.checks.map(({ message, verdict }) => `- **${cell(one.name)}** ${verdict}: ${cell(message)}`),
      ...one.warnings.map((warning) => `- **${cell(one.name)}** warning: ${cell(warning)}`)
    ])
  ]
  let bytes = 0
  const kept = lines.filter((line) => {
    bytes += Buffer.byteLength(line) + 1
    return bytes <= MOST_SUMMARY_BYTES
  })
  return `${kept.join("\n")}\n`
}
