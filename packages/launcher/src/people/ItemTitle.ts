import { type SeatMode, toOneLine } from "@runplane/domain"

/** Characters of a title in a list. */
const MAX_TITLE = 200

/** What is proposed, requested or offered, by the mode of the session. */
const TITLE_KEYS: Readonly<Record<SeatMode, string>> = { decision: "option", quorum: "action", handoff: "scope" }

/** The title of an item: one line of what is proposed, requested or offered. */
export const itemTitle = (
  mode: SeatMode,
  payload: Readonly<Record<string, unknown>> | undefined
): string | undefined => {
  const text = payload?.[TITLE_KEYS[mode]]
  return typeof text === "string" && text !== "" ? toOneLine(text, MAX_TITLE) : undefined
}
