import type { CommitteeIndependence, CommitteeShadowWorth, CommitteeWorth } from "@runplane/api"
import { usdText } from "@runplane/domain"
import { type Column, tableLines } from "../../Table.ts"
import { changedText, countText, notCountedText, pairLines, rightText } from "./CommitteeCells.ts"

type Errors = CommitteeIndependence["shadows"][number]

const errorColumns: ReadonlyArray<Column<Errors>> = [
  { title: "SHADOW", text: ({ shadow }) => shadow, elastic: true },
  { title: "BESIDE", text: ({ as }) => as },
  { title: "TRIED IN", text: ({ tried }) => `${tried} ${tried === 1 ? "run" : "runs"}` },
  { title: "RIGHT", text: rightText },
  { title: "ERRORS", text: ({ errors, runs }) => `${errors} of ${runs}` }
]

const leftOutLines = (shadows: number): ReadonlyArray<string> =>
  shadows === 0 ? [] : [`${shadows} more ${shadows === 1 ? "shadow" : "shadows"} without figures: tried earlier`]

/** The errors of shadows, which no figure of the committee has. */
export const shadowErrorLines = (
  { shadows, shadowsLeftOut }: CommitteeIndependence,
  width: number
): ReadonlyArray<string> =>
  shadows.length === 0
    ? []
    : [
        "",
        "Shadows, which no figure above has. What others said answered the participant, so a shadow may seem more independent.",
        ...tableLines(errorColumns, shadows, width),
        "",
        ...pairLines(
          "A SEAT AND A SHADOW",
          shadows.flatMap(({ pairs }) => pairs),
          width
        ),
        ...leftOutLines(shadowsLeftOut)
      ]

const pText = ({ paired: { isTooFew, p } }: CommitteeShadowWorth): string =>
  isTooFew ? "too few cases" : p < 0.001 ? "< 0.001" : p.toFixed(3)

const worthColumns: ReadonlyArray<Column<CommitteeShadowWorth>> = [
  { title: "SHADOW", text: ({ shadow }) => shadow, elastic: true },
  {
    title: "NO DECISION",
    text: changedText
  },
  { title: "RIGHT LOST", text: ({ rightLost }) => countText(rightLost) },
  { title: "WRONG PREVENTED", text: ({ wrongPrevented }) => countText(wrongPrevented) },
  { title: "RIGHT VOTES", text: ({ paired: { runs, shadowRight } }) => countText({ count: shadowRight, n: runs }) },
  {
    title: "ITS PARTICIPANT'S",
    text: ({ paired: { participantRight, runs } }) => countText({ count: participantRight, n: runs })
  },
  { title: "P", text: pText },
  {
    title: "COST A RUN",
    text: ({ cost }) =>
      cost === undefined ? "" : `${cost.guessedCostUsd > 0 ? "≈ " : ""}${usdText(cost.costPerRunUsd, 4)}`,
    dropped: 1
  },
  { title: "NOT COUNTED", text: notCountedText, dropped: 2 }
]

/** What shadows would have changed in place of their participants. */
export const shadowWorthLines = ({ shadows, shadowsLeftOut }: CommitteeWorth, width: number): ReadonlyArray<string> =>
  shadows.length === 0
    ? []
    : [
        "",
        "Shadows in place of their participants, over the runs in which each was tried:",
        ...tableLines(worthColumns, shadows, width),
        ...leftOutLines(shadowsLeftOut)
      ]
