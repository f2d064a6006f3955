import { flagParam, listParam, numberParam, textParam, type ValuesOf, wordParam } from "../../view/UrlState.ts"

/** The state of the page of a run, all of it in its address. */
export const runPageParams = {
  view: wordParam(["story", "decision", "timeline", "events", "cost"]),
  /** Index of the event after which the run is shown; nothing: as it is now. */
  at: numberParam(1),
  /** Index of the event that is looked at. */
  event: numberParam(1),
  /** Of the list of events: words within them, the types that are shown, and those that are not. */
  q: textParam,
  types: listParam,
  without: listParam,
  follow: flagParam
}
export type RunPageState = ValuesOf<typeof runPageParams>
export type SetRunPage = (patch: Partial<RunPageState>, how?: { readonly push?: boolean }) => void
