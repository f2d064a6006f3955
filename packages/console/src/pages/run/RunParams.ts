import { flagParam, listParam, numberParam, textParam, type ValuesOf, wordParam } from "../../view/query/UrlState.ts"
import { changedVotesParam } from "../../view/run/WhatIfState.ts"

/** The views of a run, the first one unless its address names another. */
export const views = [
  "story",
  "decision",
  "policy",
  "timeline",
  "graph",
  "events",
  "messages",
  "signals",
  "cost",
  "artifacts",
  "traces",
  "raw"
] as const

/** The state of the page of a run, all of it in its address. */
export const runPageParams = {
  view: wordParam(views),
  /** Index of the event after which the run is shown; undefined: now. */
  at: numberParam(1),
  /** Indices that were bookmarked: a link to the page has them. */
  bookmarks: listParam,
  /** Index of the selected event. */
  event: numberParam(1),
  /** Of the list of events: words within them, the types that are shown, and those that are not. */
  q: textParam,
  types: listParam,
  without: listParam,
  follow: flagParam,
  /** Of the timeline: the range of events that is shown, `12-60`; empty: all. */
  zoom: textParam,
  /** Of the view Traces: what the spans of one parent are sorted by. */
  spans: wordParam(["start", "total", "own", "tokens", "cost"]),
  /** Of the view Raw: what is shown. */
  part: wordParam(["event", "state", "run"]),
  /** Of the graph: a part of the names that are shown, and whether similar names share a node. */
  nodes: textParam,
  groups: wordParam(["auto", "on", "off"]),
  /** Of the view Policy: the other policy and the other votes that are tried. */
  policy: textParam,
  votes: changedVotesParam
}
export type RunPageState = ValuesOf<typeof runPageParams>
export type SetRunPage = (patch: Partial<RunPageState>, how?: { readonly push?: boolean }) => void
