import { outcomeText } from "@runplane/domain"
import { type CaseReport, type GateReport, spentText } from "./GateReport.ts"
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
export const summaryMarkdown = (report: GateReport): string => markdownOf(report, MOST_SUMMARY_BYTES)

/** Bytes of a comment: GitHub takes 65,536 characters, GitLab 1,000,000. */
const MOST_COMMENT_BYTES = 60_000

/** The first line of the comment: a job finds its comment by it, and writes the next report into it. */
export const COMMENT_MARK = "<!-- runplane gate -->"

/**
 * The report as the comment of a pull or merge request (docs/guides/ci.md#comment): first a sentence for each case that
 * has changed, then the table.
 */
export const commentMarkdown = (report: GateReport): string => {
  const sentences = report.cases.flatMap((one) => {
    const sentence = changeSentence(one)
    return sentence === undefined ? [] : [`**${cell(one.name)}**: ${cell(sentence)}`]
  })
  let bytes = 0
  const kept = sentences.filter((sentence) => {
    bytes += Buffer.byteLength(sentence) + 2
    return 2 * bytes <= MOST_COMMENT_BYTES
  })
  const more = sentences.length - kept.length
  const rest = more === 0 ? [] : [`${more} more case${more === 1 ? "" : "s"} of this kind.`, ""]
  const cost = `Cost: ${cell(spentText(report))}.`
  const head = [COMMENT_MARK, ...kept.flatMap((sentence) => [sentence, ""]), ...rest, cost, "", ""].join("\n")
  return `${head}${markdownOf(report, MOST_COMMENT_BYTES - Buffer.byteLength(head))}`
}

/** `8 of 20 runs decision.rejected (negative); changed since the baseline: ...; 8 of 20 parted where ...`. */
const changeSentence = ({ changes, checks, flips, stability }: CaseReport): string | undefined => {
  const failed = checks.filter(({ verdict }) => verdict !== "pass")
  if (failed.length === 0 && changes.length === 0) return undefined
  const outcomes = stability.outcomes.map(
    (outcome) => `${outcome.count} of ${stability.n} runs ${outcomeText(outcome)}`
  )
  const causes = flips.map((flip) => flipText(flip, stability))
  return [
    outcomes.length === 0 ? "no run has an outcome" : outcomes.join(", "),
    ...(changes.length === 0 ? [] : [`changed since the baseline: ${changes.join(", ")}`]),
    ...causes,
    ...failed.map(({ message, verdict }) => `${verdict}: ${message}`)
  ].join("; ")
}

const markdownOf = (report: GateReport, mostBytes: number): string => {
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
      ...one.changes.map((change) => `- **${cell(one.name)}** changed since the baseline: ${cell(change)}`),
      ...one.checks.map(({ message, verdict }) => `- **${cell(one.name)}** ${verdict}: ${cell(message)}`),
      ...one.warnings.map((warning) => `- **${cell(one.name)}** warning: ${cell(warning)}`)
    ])
  ]
  const left = "- The rest is left out; the gate's page and its output have it."
  let bytes = Buffer.byteLength(left) + 1
  const kept = lines.filter((line) => {
    bytes += Buffer.byteLength(line) + 1
    return bytes <= mostBytes
  })
  return `${[...kept, ...(kept.length < lines.length ? [left] : [])].join("\n")}\n`
}
