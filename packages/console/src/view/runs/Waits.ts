import { isTerminal, type RunState } from "@runplane/domain"

/** For whom a session waits, and since when. */
export interface Waits {
  readonly participants: ReadonlyArray<string>
  /** The last message of the session; absent before the first. */
  readonly since?: string
}

/**
 * The participants that have not answered a message to them. When all have answered the proposals of a session, it
 * waits for its initiator, who commits. Undefined for a session that waits for no participant.
 */
export const waitsOf = ({
  decision,
  participants,
  run: { initiator, status }
}: Pick<RunState, "decision" | "participants" | "run">): Waits | undefined => {
  if (isTerminal(status) || status === "suspended") return undefined
  const silent = participants.filter((participant) => participant.status === "waiting")
  const names = silent.map(({ participantId }) => participantId)
  const open = decision.current !== undefined && !decision.current.finalized
  const awaited = names.length === 0 && open && initiator !== undefined ? [initiator] : names
  if (awaited.length === 0) return undefined
  const times = participants.flatMap(({ latestActivityAt }) => latestActivityAt ?? [])
  const since = times.toSorted().at(-1)
  return { participants: awaited, ...(since !== undefined && { since }) }
}
