import type { ParticipantStatus, RunStatus, Tone } from "@runplane/domain"

/** A colour class; a word or icon always goes with it. */
export type { Tone }

export interface StatusLabel {
  readonly word: string
  readonly tone: Tone
}

const runLabels: Readonly<Record<RunStatus, StatusLabel>> = {
  queued: { word: "Queued", tone: "calm" },
  starting: { word: "Starting", tone: "accent" },
  binding_session: { word: "Binding session", tone: "accent" },
  running: { word: "Running", tone: "accent" },
  suspended: { word: "Suspended", tone: "warn" },
  completed: { word: "Completed", tone: "good" },
  failed: { word: "Failed", tone: "bad" },
  cancelled: { word: "Cancelled", tone: "calm" }
}

export const runStatusLabel = (status: RunStatus): StatusLabel => runLabels[status]

const participantLabels: Readonly<Record<ParticipantStatus, StatusLabel>> = {
  idle: { word: "Idle", tone: "calm" },
  active: { word: "Active", tone: "accent" },
  waiting: { word: "Waiting", tone: "warn" },
  completed: { word: "Done", tone: "good" },
  // The state names the last participant that acted before the run failed. Nothing says that it is the cause.
  failed: { word: "Last to act", tone: "calm" },
  skipped: { word: "Skipped", tone: "calm" }
}

export const participantStatusLabel = (status: ParticipantStatus): StatusLabel => participantLabels[status]
