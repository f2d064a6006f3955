import type { Forecast, OutcomeForecast } from "../insight/Forecast.ts"
import { isolatedText } from "../values/IsolatedText.ts"
import { type Phrase, phraseText } from "../values/Phrase.ts"
import type { CardAnswers, CardSentence } from "./Card.ts"
import type { VerdictState } from "./CardVerdict.ts"
import { refusalWords } from "./RefusalWords.ts"

/** Needs of an outcome that one sentence names. */
const MAX_NEEDS = 3

/** The reasons of the card: the clauses of the summary, who has not voted, what is still possible, and the warnings. */
export const cardSentences = (verdict: VerdictState, { forecast, why }: CardAnswers): ReadonlyArray<CardSentence> => {
  const isOpen = verdict === "open" || verdict === "suspended"
  const calm = isOpen
    ? [...(forecast?.waitingFor === undefined ? [] : [own(forecast.waitingFor)]), ...outlookOf(forecast)]
    : [...clausesOf(why), ...rulesOf(why), ...silentOf(why)]
  const warnings = why.warnings.map((text): CardSentence => ({ text: sentence(own(text)), tone: "warn" }))
  const seen = new Set<string>()
  const reasons = calm.map(sentence).filter((text) => {
    const isKnown =
      seen.has(text) || why.warnings.some((warning) => sentence(own(warning)).startsWith(text.slice(0, -1)))
    seen.add(text)
    return !isKnown
  })
  return [...warnings, ...reasons.map((text): CardSentence => ({ text, tone: "calm" }))]
}

const own = (text: string): Phrase => [{ text, isQuoted: false }]

/** A clause as a sentence of its own. A name at its begin stays as it is. */
const sentence = (clause: Phrase): string => {
  const text = phraseText(clause.map((part) => (part.isQuoted ? { ...part, text: isolatedText(part.text) } : part)))
  const [first] = clause
  const begin = first === undefined || first.isQuoted ? text.slice(0, 1) : text.slice(0, 1).toUpperCase()
  return `${begin}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`
}

/**
 * The clauses of a summary: without the number of missing votes where a sentence names them, and without a decision the
 * first one where the rules say the rest.
 */
const clausesOf = (why: CardAnswers["why"]): ReadonlyArray<Phrase> => {
  const clauses: Array<Array<Phrase[number]>> = [[]]
  for (const part of why.summaryParts) {
    if (!part.isQuoted && part.text === "; ") clauses.push([])
    else clauses.at(-1)?.push(part)
  }
  const named = silentOf(why).length > 0
  return clauses
    .slice(0, why.outcome === null && rulesOf(why).length > 0 ? 1 : clauses.length)
    .filter((clause) => clause.length > 0)
    .filter((clause) => !named || !clause.some(({ isQuoted, text }) => !isQuoted && text.includes("did not vote")))
}

/** The quorum of a decision; without a decision, all that the rules miss. */
const rulesOf = ({ outcome, rules }: CardAnswers["why"]): ReadonlyArray<Phrase> =>
  rules.flatMap(({ rule, satisfied, text }) => {
    // A veto needs no quorum.
    if (rule === "voting.quorum" && text.startsWith("not needed")) return []
    if (rule === "voting.quorum") return [own(`${satisfied ? "quorum reached" : "quorum missed"}: ${text}`)]
    return outcome === null && !satisfied ? [own(text)] : []
  })

const silentOf = ({ voting = [] }: CardAnswers["why"]): ReadonlyArray<Phrase> =>
  voting.flatMap(({ notVoted, text }) => (notVoted.length === 0 ? [] : [own(text)]))

const OUTCOMES = { positive: "an approval", negative: "a decline" } as const

/** What is still possible in an open run. */
const outlookOf = (forecast: Pick<Forecast, "outcomes"> | undefined): ReadonlyArray<Phrase> =>
  (forecast?.outcomes ?? []).map((outcome) => own(outlookText(outcome)))

const outlookText = ({ blockers, needs, outcome, proposalId, status }: OutcomeForecast): string => {
  const what = `${OUTCOMES[outcome]}${proposalId === undefined ? "" : ` of ${proposalId}`}`
  switch (status) {
    case "met":
      return `${what} could be committed now`
    case "certain":
      return `${what} will be possible, whatever the missing acts are`
    case "impossible":
      return `${what} is now out of reach${blockers[0] === undefined ? "" : `: ${refusalWords(blockers[0].text)}`}`
    case "possible": {
      if (needs.length === 0) return `${what} is still possible`
      const ways = needs.slice(0, MAX_NEEDS).map(({ text }) => text)
      return `${what} needs: ${ways.join(", or ")}${needs.length > MAX_NEEDS ? ", or other acts" : ""}`
    }
  }
}
