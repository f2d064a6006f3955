import { usdText } from "../../Money.ts"
import type { Why } from "../Why.ts"

/** A part of the page: a heading, and lines under it. */
interface Section {
  readonly title: string
  readonly lines: ReadonlyArray<string>
}

/** The decision record as Markdown. What participants wrote is escaped and cannot become markup. */
export const whyMarkdown = (why: Why): string => {
  const sections = sectionsOf(why).map(
    ({ lines, title }) => `## ${title}\n\n${lines.map((line) => `- ${escapeMarkdown(line)}`).join("\n")}`
  )
  return [`# ${escapeMarkdown(titleOf(why))}`, escapeMarkdown(why.summary), ...sections].join("\n\n").concat("\n")
}

/** The decision record as one printable page: no scripts, nothing loaded, everything escaped. */
export const whyHtml = (why: Why): string => {
  const title = escapeHtml(titleOf(why))
  const sections = sectionsOf(why).map(({ lines, title: heading }) => {
    const items = lines.map((line) => `<li>${escapeHtml(line)}</li>`).join("\n")
    return `<section>\n<h2>${escapeHtml(heading)}</h2>\n<ul>\n${items}\n</ul>\n</section>`
  })
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>
body { font: 16px/1.5 Georgia, serif; max-width: 44rem; margin: 2rem auto; padding: 0 1rem; color: #111 }
h1, h2 { line-height: 1.2 }
li { overflow-wrap: anywhere }
section { break-inside: avoid-page }
.summary { font-size: 1.2em }
</style>
</head>
<body>
<h1>${title}</h1>
<p class="summary">${escapeHtml(why.summary)}</p>
${sections.join("\n")}
</body>
</html>
`
}

const titleOf = ({ outcome }: Why): string => {
  if (outcome === null) return "No decision"
  const verdict = outcome.positive === null ? "Decided" : outcome.positive ? "Approved" : "Declined"
  return `${verdict}: ${outcome.action}`
}

const sectionsOf = (why: Why): ReadonlyArray<Section> =>
  [
    { title: "The run", lines: aboutOf(why) },
    { title: "What was missing", lines: why.missing },
    {
      title: "Rules",
      lines: why.rules.map(({ rule, satisfied, text }) => `${satisfied ? "met" : "not met"}: ${text} (${rule})`)
    },
    { title: "What was said", lines: why.claims.map(({ seqs, text }) => `${text} [${seqs.join(", ")}]`) },
    {
      title: "What if one vote had been missing",
      lines: why.counterfactuals.map(({ reasons, text }) => [text, ...reasons].join("; "))
    },
    { title: "Cost", lines: costLines(why) },
    { title: "Notes", lines: why.notes }
  ].filter(({ lines }) => lines.length > 0)

const aboutOf = (why: Why): ReadonlyArray<string> => {
  const { decidedAt, minimalSet, modeName, outcome, participants, policySource, policyVersion, runId } = why
  return [
    `run ${runId}, mode ${modeName || "unknown"}, policy ${policyVersion || "unknown"} (${policySource})`,
    participants.length > 0 && `participants: ${participants.join(", ")}`,
    outcome !== null &&
      `committed by ${outcome.by || "an unnamed participant"}${outcome.reason === undefined ? "" : `: ${outcome.reason}`}`,
    decidedAt !== undefined &&
      `decided at ${decidedAt.ts}, ${(decidedAt.msBeforeCommitment / 1_000).toFixed(1)} s before the commitment`,
    minimalSet.length > 0 && `carried by the events ${minimalSet.join(", ")}`
  ].filter((line) => line !== false)
}

const costLines = ({ cost }: Why): ReadonlyArray<string> =>
  cost.byParticipant.length === 0
    ? []
    : [
        ...cost.byParticipant.map(
          ({ calls, costUsd, participantId, totalTokens, ...spending }) =>
            `${participantId || "unnamed"}: ${calls} calls, ${totalTokens} tokens, ${usdText(costUsd, 4)}${guessed(spending)}${lacking(spending)}`
        ),
        `together: ${cost.totalTokens} tokens, ${usdText(cost.costUsd, 4)}${guessed(cost)}${lacking(cost)}`
      ]

const guessed = ({ guessedCostUsd = 0 }: { readonly guessedCostUsd?: number }): string =>
  guessedCostUsd === 0 ? "" : `, ≈ ${usdText(guessedCostUsd, 4)} of it guessed`

const lacking = ({ callsWithoutUsage = 0 }: { readonly callsWithoutUsage?: number }): string =>
  callsWithoutUsage === 0 ? "" : ` and ${callsWithoutUsage} calls without usage`

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
}

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (letter) => ENTITIES[letter] ?? letter)

/** Letters that begin or end markup anywhere; an underscore inside a word does not. */
const MARKUP = /[\\`*[\]~|]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu
/** What readers make links of by themselves: the colon of an address, the point after `www`, the sign in a mail's. */
const ADDRESS = /:(?=\/)|(?<=www)\.|@/gi
/** What makes a heading, a list, a rule or an underline of a line that begins with it. */
const LINE_START = /^(?:([#+\-=])|(\d{1,9})(?=[.)]))/

/** Escapes markup and line breaks; ordinary text stays readable in the source. */
const escapeMarkdown = (text: string): string =>
  text
    .replace(/[\r\n\u2028\u2029]+/g, " ")
    .replace(MARKUP, (letter) => `\\${letter}`)
    .replace(ADDRESS, (letter) => `\\${letter}`)
    .trimStart()
    .replace(LINE_START, (_, mark?: string, digits?: string) => (digits === undefined ? `\\${mark}` : `${digits}\\`))
    .replace(/[&<>]/g, (letter) => ENTITIES[letter] ?? letter)
