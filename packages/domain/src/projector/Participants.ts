import { textAt, textsAt } from "../JsonReader.ts"
import { MAX_TRACKED_PARTICIPANTS, type ParticipantState, ParticipantStatus, type RunState } from "../RunState.ts"
import { isTerminal, type RunStatus } from "../RunStatus.ts"
import { replaceAt } from "./Capped.ts"
import type { EventView } from "./EventView.ts"

type Participants = RunState["participants"]

/**
 * Folds the section `participants`, in order of first sight: a sender is active, the recipients of a message wait
 * (http-details section 7, "participants[]"). `runStatus` is the status after the event: in an ended run nobody becomes
 * active or waiting again.
 */
export const foldParticipants = (
  participants: Participants,
  view: EventView,
  recipients: ReadonlyArray<string>,
  runStatus: RunStatus
): Participants => {
  const isOver = isTerminal(runStatus)
  let next = view.event.type === "participant.seen" ? withSeen(participants, view) : participants
  if (view.sender !== "") next = withSender(next, view, isOver)
  return recipients.length > 0 && !isOver ? withRecipients(next, recipients) : next
}

/** Who a message.received is for: `data.to`, or what its type implies (http-details section 7, "recipients"). */
export const recipientsOf = (view: EventView, participants: Participants): ReadonlyArray<string> => {
  const { data, messageType, payload, sender } = view
  if (view.event.type !== "message.received") return []
  const to = textAt(data, "to")
  if (to !== undefined) return to === sender ? [] : [to]
  const listed = textsAt(data, "to")
  if (listed.length > 0) return others(listed, sender)
  if (messageType === "SessionStart") return others(textsAt(payload, "participants"), sender)
  if (messageType !== "Proposal") return []
  return others(
    participants.map(({ participantId }) => participantId),
    sender
  )
}

/**
 * Settles every participant when the run ends (run-control-plane "Projection rules" 8): who was heard of has completed, who
 * was not is skipped, and when the run failed the last one active has failed.
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

const withSeen = (participants: Participants, { data, subjectId }: EventView): Participants => {
  const participantId = textAt(data, "participantId") ?? subjectId
  if (participantId === "") return participants
  const role = textAt(data, "role")
  const at = indexOf(participants, participantId)
  const known = participants[at]
  if (known !== undefined) {
    return role === undefined || known.role === role ? participants : replaceAt(participants, at, { ...known, role })
  }
  const stated = ParticipantStatus.literals.find((status) => status === data["status"])
  return added(participants, { participantId, ...(role !== undefined && { role }), status: stated ?? "idle" })
}

const withSender = (participants: Participants, view: EventView, isOver: boolean): Participants => {
  const { messageType, sender, ts } = view
  const at = indexOf(participants, sender)
  const known = participants[at]
  if (known === undefined) {
    const summary = messageType === "" ? {} : { latestSummary: messageType }
    const status = isOver ? "completed" : "active"
    return added(participants, { participantId: sender, status, latestActivityAt: ts, ...summary })
  }
  const status = isOver ? (isSettled(known.status) ? known.status : "completed") : "active"
  const latestSummary = messageType === "" ? known.latestSummary : messageType
  if (known.status === status && known.latestActivityAt === ts && known.latestSummary === latestSummary) {
    return participants
  }
  return replaceAt(participants, at, {
    ...known,
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
