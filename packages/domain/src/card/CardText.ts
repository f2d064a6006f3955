import { committedWords } from "../run/ActionWords.ts"
import { minuteText } from "../values/IsoTime.ts"
import type { DecisionCard } from "./Card.ts"
import type { CardVoter } from "./Voters.ts"

const VOTES: Readonly<Record<CardVoter["vote"], string>> = {
  for: "voted for it",
  against: "voted against it",
  abstained: "abstained",
  none: "has not voted"
}
const OPINIONS = { for: "recommends it", against: "recommends against it", unsure: "is unsure" } as const

/** A voter in words: "risk-officer voted against it with an objection; pivotal". */
export const voterText = (voter: CardVoter, hasVotes = true): string =>
  `${voter.participantId} ${voterWords(voter, hasVotes)}`

/** The same without the name, for a page that isolates names from its own words. */
export const voterWords = (voter: CardVoter, hasVotes = true): string => {
  const { confidence, noAnswerBy, objection, opinion, person, pivotal, role, vote, weight } = voter
  const voted =
    noAnswerBy === undefined
      ? VOTES[vote]
      : `gave no answer by ${minuteText(noAnswerBy)}, and its deadline ${VOTES[vote]}`
  const answer = hasVotes ? voted : (role ?? "takes part")
  return [
    `${answer}${opinion === undefined ? "" : ` and ${OPINIONS[opinion]}`}${
      objection === undefined ? "" : objection === "veto" ? " with a veto" : " with an objection"
    }`,
    ...(person === undefined ? [] : [`by person:${person} at ${minuteText(voter.answeredAt ?? "an unknown time")}`]),
    ...(weight === 1 ? [] : [`weight ${weight}`]),
    ...(confidence === undefined ? [] : [`confidence ${Math.round(confidence * 100)} %`]),
    ...(pivotal ? ["pivotal"] : [])
  ].join("; ")
}

/** The whole card in one sentence, for readers who do not see the picture. */
export const cardSentence = ({ action, by, counts, question, verdict, word }: DecisionCard): string => {
  const about = question === undefined ? "" : `${question}: `
  // The word says what a standard action says.
  const isStandard = committedWords(action, verdict === "decided" ? null : verdict === "for") !== undefined
  const committed = [
    ...(action === undefined || isStandard ? [] : [action]),
    ...(action === undefined || by === undefined ? [] : [`committed by ${by}`])
  ]
  return `${about}${word}${committed.length === 0 ? "" : ` (${committed.join(", ")})`}; ${counts}.`
}

/** Voters that one text lists; the rest is counted. */
const MAX_VOTERS = 40

/** The voters by proposal, a line each. */
export const voterLines = ({ hasVotes, rings, ringsLeftOut = 0 }: DecisionCard): ReadonlyArray<string> => [
  ...rings.flatMap(({ name, seats: voters }) => {
    const about = rings.length > 1 ? `on ${name}: ` : ""
    const shown = voters.slice(0, MAX_VOTERS).map((voter) => `${about}${voterText(voter, hasVotes)}`)
    return voters.length > MAX_VOTERS
      ? [...shown, `${about}and ${voters.length - MAX_VOTERS} more participants`]
      : shown
  }),
  ...(ringsLeftOut === 0 ? [] : [`${ringsLeftOut} earlier proposals are left out`])
]

/** The card as lines of text, for readers without pictures: the sentence, the voters by proposal, and why. */
export const cardLines = (card: DecisionCard): ReadonlyArray<string> => [
  cardSentence(card),
  ...voterLines(card),
  ...card.sentences.map(({ text }) => text)
]
