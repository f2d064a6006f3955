import type { CommitteeIndependence, CommitteeSearchAnswer, CommitteeSeatWorth, CommitteeWorth } from "@runplane/api"
import { usdText } from "@runplane/domain"
import { plainText } from "../../narrative/PlainText.ts"
import { type Column, tableLines } from "../../Table.ts"
import { changedText, countText, notCountedText, pairLines, rightText, type Seat } from "./CommitteeCells.ts"
import { shadowErrorLines, shadowWorthLines } from "./ShadowLines.ts"

/** Less is not worth its words. */
const LEAST_SAVED_MS = 50

const seatColumns = (models: ReadonlyMap<string, string>): ReadonlyArray<Column<Seat>> => [
  { title: "SEAT", text: ({ seat }) => seat, elastic: true },
  { title: "RIGHT", text: rightText },
  { title: "ERRORS", text: ({ errors, runs }) => `${errors} of ${runs}` },
  { title: "COUNTS", text: ({ leftOut }) => (leftOut === undefined ? "yes" : `no: ${leftOut}`) },
  { title: "SHARES ITS MODEL", text: ({ seat }) => models.get(seat) ?? "", dropped: 1 }
]

const truthLine = ({ runs, truth }: CommitteeIndependence): string => {
  const { positiveDifference, withTruth } = truth
  const differs =
    positiveDifference !== undefined && (positiveDifference.low > 0 || positiveDifference.high < 0)
      ? "; these differ from the others in their outcomes, so the figures may not hold for all"
      : ""
  return `${withTruth} of ${runs} ended runs have a decision with a mark correct${differs}.`
}

/** One committee with its seats and pairs. */
export const independenceLines = (found: CommitteeIndependence, width: number): ReadonlyArray<string> => {
  const { effectiveVotes, pairs, seats, sharedModels, summary } = found
  const models = new Map(sharedModels.flatMap(({ model, seats: sharing }) => sharing.map((seat) => [seat, model])))
  return [
    plainText(summary),
    truthLine(found),
    ...(effectiveVotes.kind === "known" ? ["This measures dependence, not accuracy."] : []),
    ...found.sharedPrompts.map(({ promptHash, seats: sharing }) =>
      plainText(`The same prompt is behind ${sharing.join(" and ")}: ${promptHash}.`)
    ),
    "",
    ...tableLines(seatColumns(models), seats, width),
    "",
    ...pairLines("TWO SEATS", pairs, width),
    ...shadowErrorLines(found, width)
  ]
}

const worthColumns: ReadonlyArray<Column<CommitteeSeatWorth>> = [
  { title: "WITHOUT", text: ({ seat }) => seat, elastic: true },
  {
    title: "NO DECISION",
    text: changedText
  },
  { title: "RIGHT LOST", text: ({ rightLost }) => countText(rightLost) },
  { title: "WRONG PREVENTED", text: ({ wrongPrevented }) => countText(wrongPrevented) },
  { title: "PIVOTAL", text: ({ pivotal }) => countText(pivotal) },
  {
    title: "COST A RUN",
    text: ({ costPerRunUsd, guessedCostUsd }) => `${guessedCostUsd > 0 ? "≈ " : ""}${usdText(costPerRunUsd, 4)}`
  },
  {
    title: "EARLIER BY",
    text: ({ meanSavedMs }) => (meanSavedMs === undefined ? "" : `≈ ${(meanSavedMs / 1_000).toFixed(1)} s`),
    dropped: 1
  },
  { title: "NOT COUNTED", text: notCountedText, dropped: 2 }
]

/** One committee with what each seat is worth. */
export const worthLines = (found: CommitteeWorth, width: number): ReadonlyArray<string> => [
  plainText(found.summary),
  "Votes are counted again, and no agent runs again: what the others would have said without a seat is not known.",
  "",
  ...tableLines(worthColumns, found.seats, width),
  ...shadowWorthLines(found, width)
]

/** What a search found; `tried` are the policies as the caller named them. */
export const searchLines = (found: CommitteeSearchAnswer, tried: ReadonlyArray<string> = []): ReadonlyArray<string> => {
  const { otherCommittees, searches, summary } = found
  const { search } = found.found
  const { candidates, choosing, confirming, excluded, method, policies } = search
  const which =
    method === "greedy"
      ? ", seat by seat, so a cheaper one may exist"
      : excluded > 0
        ? ", all that no policy excludes"
        : ", all that there are"
  // Without a chosen subset nothing went on to the other half.
  const isChosen = found.found.kind === "named" || found.found.reason === "not confirmed"
  return [
    `${plainText(summary)}.`,
    ...(found.found.kind === "named" ? namedLines(found.found.committee, tried) : []),
    `${candidates} subsets${policies === 0 ? "" : ` under their own policy and ${policies} more`} were tried on ${choosing.cases} cases${which}${
      isChosen ? `; the chosen one was confirmed or refused on ${confirming.cases} other cases` : ""
    }.`,
    `${searches} ${searches === 1 ? "search" : "searches"} over runs of these participants so far; the best of many ` +
      "looks better than it is.",
    ...(otherCommittees > 0 ? [`${otherCommittees} runs of other participants are left out.`] : [])
  ]
}

type Named = Extract<CommitteeSearchAnswer["found"], { readonly kind: "named" }>["committee"]

const namedLines = (
  { accuracy, agreement: { undecided }, policy, saved, seats }: Named,
  tried: ReadonlyArray<string>
): ReadonlyArray<string> => [
  plainText(`Remaining seats: ${seats.join(", ")}.`),
  ...(policy === undefined ? [] : [plainText(`Policy: ${tried[policy.index] ?? policy.name}.`)]),
  ...(undecided === 0
    ? []
    : [
        `In ${undecided} of these cases the votes would have allowed the opposite outcome, too: they do not decide it.`
      ]),
  ...(accuracy === undefined
    ? ["No decision of the confirming half has a mark correct."]
    : [`Right decisions: ${countText(accuracy.named)}, with all seats ${countText(accuracy.all)}.`]),
  ...(saved.meanMs === undefined
    ? []
    : saved.meanMs < LEAST_SAVED_MS
      ? ["A decision would come no sooner, an estimate."]
      : [`A decision could come ${(saved.meanMs / 1_000).toFixed(1)} s sooner, an estimate.`])
]
