import type { EventOf, KnownEvent } from "../events/CanonicalEvent.ts"
import { OTLP_MODE_NAME } from "../events/MessageHeader.ts"
import type { ParticipantStatus } from "../run/ParticipantStatus.ts"
import { isTerminal, type RunStatus } from "../run/RunStatus.ts"
import { boundName, replaceAt } from "../values/Bounds.ts"
import type { EventView } from "./EventView.ts"
import { MAX_TRACKED_PARTICIPANTS, type ParticipantState, type RunState } from "./RunState.ts"

type Participants = RunState["participants"]

/**
 * Folds the section `participants`: the declared ones in their order, then the others in order of first sight. A
 * sender is active, the recipients of a message wait. `runStatus` is the status after the event: in an ended run
 * no participant becomes active or waiting again.
 */
export const foldParticipants = (
  participants: Participants,
  view: EventView,
  recipients: ReadonlyArray<string>,
  runStatus: RunStatus
): Participants => {
  const isOver = isTerminal(runStatus)
  let next = withDeclared(participants, view.event)
  if (view.sender !== "") next = withSender(next, view, isOver)
  return recipients.length > 0 && !isOver ? withRecipients(next, recipients) : next
}

/**
 * The participants that a message.received is for: those it names, else all declared ones for a SessionStart and all
 * others for a Proposal.
 */
export const recipientsOf = (event: KnownEvent, participants: Participants): ReadonlyArray<string> => {
  if (event.type !== "message.received") return []
  const { messageType, sessionStart, to } = event.data
  const sender = boundName(event.data.sender)
  if (to.length > 0) return others(to.map(boundName), sender)
  if (sessionStart !== undefined) return others(sessionStart.participants.map(boundName), sender)
  if (messageType !== "Proposal") return []
  return others(
    participants.map(({ participantId }) => participantId),
    sender
  )
}

/**
 * Whether an id is a participant. An ingested run announces all of them by `participant.seen`, so the `user` who gave
 * the work is not one; in other runs every sender and recipient is.
 */
export const memberOf = (event: KnownEvent, participants: Participants): ((id: string) => boolean) => {
  const isIngested = "modeName" in event.data && event.data.modeName === OTLP_MODE_NAME
  return (id) => !isIngested || indexOf(participants, id) >= 0
}

/**
 * Settles every participant when the run ends: one that has sent something has completed, one that has not is skipped,
 * and when the run failed the last one active has failed.
 */
export const sweepParticipants = (participants: Participants, runStatus: RunStatus): Participants => {
  const culprit = runStatus === "failed" ? lastActive(participants) : undefined
  return participants.map((participant) =>
    isSettled(participant.status)
      ? participant
      : { ...participant, status: participant === culprit ? "failed" : settledStatus(participant) }
  )
}

const others = (ids: ReadonlyArray<string>, sender: string) => ids.filter((id) => id !== sender)

const isSettled = (status: ParticipantStatus): boolean =>
  status === "completed" || status === "failed" || status === "skipped"

const settledStatus = ({ latestActivityAt }: ParticipantState): ParticipantStatus =>
  latestActivityAt === undefined ? "skipped" : "completed"

const lastActive = (participants: Participants): ParticipantState | undefined => {
  let last: ParticipantState | undefined
  for (const participant of participants) {
    const { latestActivityAt: at } = participant
    if (at !== undefined && at >= (last?.latestActivityAt ?? "")) last = participant
  }
  return last
}

const indexOf = (participants: Participants, id: string): number =>
  participants.findIndex(({ participantId }) => participantId === id)

const added = (participants: Participants, participant: ParticipantState): Participants =>
  participants.length >= MAX_TRACKED_PARTICIPANTS ? participants : [...participants, participant]

const withDeclared = (participants: Participants, event: KnownEvent): Participants => {
  if (event.type === "participant.seen") return withSeen(participants, event)
  return event.type === "session.bound" && event.data.participants.length > 0
    ? inDeclaredOrder(participants, event.data.participants)
    : participants
}

/** A signal that arrived before the session was bound does not put its sender first. */
const inDeclaredOrder = (participants: Participants, declared: ReadonlyArray<string>): Participants => {
  if (participants.length === 0) return participants
  const known = new Map(participants.map((participant) => [participant.participantId, participant]))
  const first = [...new Set(declared)].flatMap((participantId): Participants => {
    if (participantId === "") return []
    return [known.get(participantId) ?? { participantId, status: "idle" }]
  })
  const ids = new Set(first.map(({ participantId }) => participantId))
  return [...first, ...participants.filter(({ participantId }) => !ids.has(participantId))].slice(
    0,
    MAX_TRACKED_PARTICIPANTS
  )
}

const withSeen = (participants: Participants, { data }: EventOf<"participant.seen">): Participants => {
  if (data.participantId === "") return participants
  const participantId = boundName(data.participantId)
  const role = data.role === undefined ? undefined : boundName(data.role)
  const at = indexOf(participants, participantId)
  const current = participants[at]
  if (current !== undefined) {
    return role === undefined || current.role === role
      ? participants
      : replaceAt(participants, at, { ...current, role })
  }
  return added(participants, { participantId, ...(role !== undefined && { role }), status: data.status ?? "idle" })
}

const withSender = (participants: Participants, view: EventView, isOver: boolean): Participants => {
  const { event, messageType, sender } = view
  const { ts } = event
  const at = indexOf(participants, sender)
  const current = participants[at]
  if (current === undefined) {
    const summary = messageType === "" ? {} : { latestSummary: messageType }
    const status = isOver ? "completed" : "active"
    return added(participants, { participantId: sender, status, latestActivityAt: ts, ...summary })
  }
  const status = isOver ? (isSettled(current.status) ? current.status : "completed") : "active"
  const latestSummary = messageType === "" ? current.latestSummary : messageType
  if (current.status === status && current.latestActivityAt === ts && current.latestSummary === latestSummary) {
    return participants
  }
  return replaceAt(participants, at, {
    ...current,
    status,
    latestActivityAt: ts,
    ...(latestSummary !== undefined && { latestSummary })
  })
}

const withRecipients = (participants: Participants, recipients: ReadonlyArray<string>): Participants => {
  const missing = new Set(recipients)
  let changed = false
  const next = participants.map((participant): ParticipantState => {
    if (!missing.delete(participant.participantId) || participant.status === "waiting") return participant
    changed = true
    return { ...participant, status: "waiting" }
  })
  for (const participantId of missing) {
    if (next.length >= MAX_TRACKED_PARTICIPANTS) break
    next.push({ participantId, status: "waiting" })
    changed = true
  }
  return changed ? next : participants
}
