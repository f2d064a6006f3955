import type { Me } from "@runplane/api"
import { CORRECT } from "@runplane/domain"
import { choiceParam, type Param, textParam, type ValuesOf } from "../../view/query/UrlState.ts"
import type { GivenMarks } from "../../view/review/Review.ts"

/** The name of the marks; `correct` unless the address has another one. */
const nameParam: Param<string> = {
  read: (text) => (text !== null && /^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(text) ? text : CORRECT),
  write: (name) => (name === CORRECT ? undefined : name)
}

/** The state of the review queue, all of it in its address. */
export const reviewParams = {
  /** The runs, in the query language of the list. */
  q: textParam,
  name: nameParam,
  /** What is marked: `run`, `decision` or `participant:<id>`; empty for the usual one of the name. */
  target: textParam,
  /** Whether the marks of others are hidden until there is an own one; where judges have marked unless it is chosen. */
  blind: choiceParam,
  /** The run that is shown; empty for the first one without an own mark. */
  run: textParam
}
export type ReviewState = ValuesOf<typeof reviewParams>
export type SetReview = (patch: Partial<ReviewState>, how?: { readonly push?: boolean }) => void

/** Behind the last run. */
export const END = "end"

/** The properties of a run of the queue. */
export interface ReviewRunProps {
  readonly runId: string
  readonly me: Me
  readonly state: ReviewState
  readonly set: SetReview
  readonly given: GivenMarks
  readonly renew: (runId: string) => Promise<unknown>
  readonly isReviewed: boolean
  /** Goes on or back by so many runs. */
  readonly goTo: (step: number) => void
}
