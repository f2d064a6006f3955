import * as Base64 from "effect/encoding/Base64"
import * as Result from "effect/Result"
import type { Deliberation } from "../insight/Deliberation.ts"
import type { Why } from "../insight/Why.ts"
import { receiptText } from "../receipts/ReceiptText.ts"
import { cleanJson } from "../values/CleanJson.ts"
import { parseExactJson } from "../values/ExactJson.ts"
import { isJsonObject } from "../values/JsonReader.ts"
import { costText } from "../values/Money.ts"
import { escapeHtml, shownText } from "../values/VisibleText.ts"
import type { DecisionCard } from "./Card.ts"
import { voterLines } from "./CardText.ts"
import type { ReasonedCard } from "./DecisionCard.ts"
import { ringSvg } from "./RingSvg.ts"

/** What the page says of the run beside its reasons. */
export interface RecordSubject extends Pick<Partial<Deliberation>, "intent" | "context"> {
  readonly scenario?: string | undefined
  /** Of each cited event its `seq` and its `index`, which is the number that people see everywhere. */
  readonly positions: ReadonlyArray<readonly [seq: number, index: number]>
  /** When the page was made, ISO-8601, and for which caller; absent where the page is equal whenever it is made. */
  readonly printed?: { readonly at: string; readonly by: string }
}

/** The subject of a record as far as its run has it. */
export const recordSubject = (run: Deliberation, why: Why): Pick<RecordSubject, "intent" | "context" | "positions"> => {
  const { acts, commitment, context, denials, intent } = run
  const cited = new Set([...why.claims.flatMap(({ seqs }) => seqs), ...why.minimalSet])
  const events = [...acts, ...denials, ...(commitment === undefined ? [] : [commitment])]
  const positions = events.flatMap(({ index, seq }) => (cited.has(seq) ? [[seq, index] as const] : []))
  return { intent, context, positions }
}

/** A part of the page: a heading, and lines under it. */
interface Section {
  readonly title: string
  readonly lines: ReadonlyArray<string>
}

/** The decision record as Markdown. What participants wrote is escaped and cannot become markup. */
export const whyMarkdown = ({ card, why }: ReasonedCard, subject?: RecordSubject): string => {
  const sections = [
    { title: "Warnings", lines: why.warnings },
    { title: "Participants", lines: [card.counts, ...voterLines(card)] },
    ...sectionsOf(why, subject)
  ]
    .filter(({ lines }) => lines.length > 0)
    .map(
      ({ lines, title }) => `## ${title}\n\n${lines.map((line) => `- ${escapeMarkdown(shownText(line))}`).join("\n")}`
    )
  return [`# ${escapeMarkdown(titleOf(card, why))}`, escapeMarkdown(shownText(why.summary)), ...sections]
    .join("\n\n")
    .concat("\n")
}

/** The decision record as one printable page: no scripts, nothing loaded, everything escaped. */
export const whyHtml = ({ card, why }: ReasonedCard, subject?: RecordSubject): string => {
  const title = escapeHtml(titleOf(card, why))
  const { counts, question, rings, ringsLeftOut = 0, sentences } = card
  const figures = rings.map((ring) => {
    const caption = rings.length > 1 ? `<figcaption>${escapeHtml(shownText(ring.name))}</figcaption>` : ""
    return `<figure>\n${caption}${ringSvg(card, ring)}\n</figure>`
  })
  const leftOut = ringsLeftOut === 0 ? "" : `<p>${ringsLeftOut} earlier proposals are left out</p>\n`
  const reasons = sentences.map(({ text, tone }) => `<li class="${tone}">${escapeHtml(shownText(text))}</li>`)
  const sections = sectionsOf(why, subject).map(({ lines, title: heading }) => {
    const items = lines.map((line) => `<li>${escapeHtml(shownText(line))}</li>`).join("\n")
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
body { font: 16px/1.5 Georgia, serif; max-width: 44rem; margin: 2rem auto; padding: 0 1rem; color: #111; background: #fff }
h1, h2 { line-height: 1.2; overflow-wrap: anywhere }
li { overflow-wrap: anywhere }
section, figure { break-inside: avoid-page }
figure { margin: 1rem 0; text-align: center }
figcaption { overflow-wrap: anywhere }
svg { max-width: 100%; height: auto; print-color-adjust: exact; -webkit-print-color-adjust: exact }
.verdict { font-size: 1.2em; font-weight: bold }
.counts { text-align: center }
.warn { font-weight: bold }
</style>
</head>
<body>
<h1 dir="auto">${question === undefined ? title : escapeHtml(shownText(question))}</h1>
<p class="verdict">${title}</p>
${figures.join("\n")}
<p class="counts">${escapeHtml(shownText(counts))}</p>
${leftOut}<ul>
${reasons.join("\n")}
</ul>
${sections.join("\n")}
</body>
</html>
`
}

/** "Approved against its votes: decision.selected" */
const titleOf = ({ action, word }: DecisionCard, { outcome }: Why): string =>
  `${word}${outcome?.againstVotes === true ? " against its votes" : ""}${action === undefined ? "" : `: ${shownText(action)}`}`

const sectionsOf = (why: Why, subject: RecordSubject | undefined): ReadonlyArray<Section> => {
  const indexes = new Map(subject?.positions)
  /** Without its index an event is cited by the position in the whole log. */
  const cite = (seqs: ReadonlyArray<number>) =>
    seqs
      .map((seq) => {
        const index = indexes.get(seq)
        return index === undefined ? `seq ${seq}` : `event ${index}`
      })
      .join(", ")
  return [
    { title: "The run", lines: aboutOf(why, subject, cite) },
    { title: "Inputs", lines: inputsOf(subject?.context) },
    { title: "Votes", lines: [...(why.tallies ?? []), ...(why.voting ?? [])].map(({ text }) => text) },
    { title: "What was missing", lines: why.missing },
    {
      title: "Rules",
      lines: why.rules.map(({ rule, satisfied, text }) => `${satisfied ? "met" : "not met"}: ${text} (${rule})`)
    },
    { title: "What was said", lines: why.claims.map(({ seqs, text }) => `${text} [${cite(seqs)}]`) },
    {
      title: "What if one vote had been missing",
      lines: why.counterfactuals.map(({ reasons, text }) => [text, ...reasons].join("; "))
    },
    { title: "Cost", lines: costLines(why) },
    { title: "Notes", lines: why.notes }
  ].filter(({ lines }) => lines.length > 0)
}

/** Characters of an input on the page. */
const MAX_INPUT = 1_000

/** The context of the session, a line for each member. */
const inputsOf = (context: string | undefined): ReadonlyArray<string> => {
  const bytes = context === undefined ? undefined : Result.getOrUndefined(Base64.decodeString(context))
  const json = bytes === undefined ? undefined : parseExactJson(bytes)
  const value = json && cleanJson(json.value)
  if (!isJsonObject(value)) return []
  return Object.entries(value).map(([name, given]) => {
    const text = typeof given === "string" ? given : JSON.stringify(given)
    return `${name}: ${text.length > MAX_INPUT ? `${text.slice(0, MAX_INPUT)}...` : text}`
  })
}

const aboutOf = (
  why: Why,
  subject: RecordSubject | undefined,
  cite: (seqs: ReadonlyArray<number>) => string
): ReadonlyArray<string> => {
  const { decidedAt, minimalSet, modeName, outcome, participants, policySource, policyVersion, receipt, runId } = why
  return [
    subject?.scenario !== undefined && `scenario ${subject.scenario}`,
    subject?.intent !== undefined && `question: ${subject.intent}`,
    `run ${runId}, mode ${modeName || "unknown"}, policy ${policyVersion || "unknown"} (${policySource})`,
    participants.length > 0 && `participants: ${participants.join(", ")}`,
    outcome !== null &&
      `committed by ${outcome.by || "an unnamed participant"}${outcome.reason === undefined ? "" : `: ${outcome.reason}`}`,
    outcome?.commitmentHash !== undefined && `commitment hash ${outcome.commitmentHash}`,
    receipt !== undefined && `receipt of the runtime: ${receiptText(receipt)}`,
    decidedAt !== undefined &&
      `decided at ${decidedAt.ts}, ${(decidedAt.msBeforeCommitment / 1_000).toFixed(1)} s before the commitment`,
    minimalSet.length > 0 && `a smallest set of events that carries it: ${cite(minimalSet)}`,
    subject?.printed !== undefined && `printed at ${subject.printed.at} (UTC) for ${subject.printed.by}`
  ].filter((line) => line !== false)
}

const costLines = ({ cost }: Why): ReadonlyArray<string> =>
  cost.byParticipant.length === 0
    ? []
    : [
        ...cost.byParticipant.map(
          ({ calls, costUsd, participantId, totalTokens, ...spending }) =>
            `${participantId || "unnamed"}: ${calls} calls, ${totalTokens} tokens, ${costText(costUsd, spending.guessedCostUsd)}${lacking(spending)}`
        ),
        `together: ${cost.totalTokens} tokens, ${costText(cost.costUsd, cost.guessedCostUsd)}${lacking(cost)}`
      ]

const lacking = ({ callsWithoutUsage = 0 }: { readonly callsWithoutUsage?: number }): string =>
  callsWithoutUsage === 0 ? "" : ` and ${callsWithoutUsage} calls without usage`

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
    .replace(/[&<>]/g, escapeHtml)
