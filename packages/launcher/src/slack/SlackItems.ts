import { isClosed, seatMode } from "@runplane/domain"
import type { ShownItem } from "../people/Inbox.ts"
import { itemTitle } from "../people/ItemTitle.ts"
import { endMessage, questionMessage, type SlackMessage } from "./SlackTexts.ts"

/** Whether a press is enough for a seat: Slack gives neither the time of a sign-in nor a passkey. */
export const takesPresses = ({ proof }: Pick<ShownItem, "proof">): boolean => proof === "session"

/**
 * The message of an item for a person, as the item is now; undefined for an open one that cannot be shown, such as
 * while its session is read again.
 */
export const messageOf = (shown: ShownItem, publicUrl: string): SlackMessage | undefined => {
  const { acts, basis, given, payload, reason, row } = shown
  const mode = seatMode(row.mode_name)
  const title = mode && itemTitle(mode, payload)
  const about = { item: row.id, title, scenarioRef: row.scenario_ref, seat: row.seat }
  if (row.state !== "open") {
    const end = { state: row.state, reason: row.reason ?? undefined, by: given?.person }
    return endMessage({ ...about, ...end, newItem: row.new_item ?? undefined }, publicUrl)
  }
  if (basis === undefined) return undefined
  return questionMessage(
    {
      ...about,
      deadlineAt: row.deadline_at ?? undefined,
      proposalHash: row.proposal_hash,
      basis: { ordinal: basis.ordinal, sha256: basis.sha256 },
      acts,
      reason,
      takesPresses: takesPresses(shown)
    },
    publicUrl
  )
}

/** Whether a message that shows this item is final. */
export const isFinal = ({ row }: ShownItem): boolean => isClosed(row.state)
