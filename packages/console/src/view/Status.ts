import type { ParticipantStatus, RunStatus } from "@runplane/domain"

/** How something is coloured; never the only sign of what it is. */
export type Tone = "good" | "bad" | "warn" | "accent" | "calm"

export interface Look {
  readonly word: string
  readonly tone: Tone
}

const runLooks: Readonly<Record<RunStatus, Look>> = {
  queued: { word: "Queued", tone: "calm" },
  starting: { word: "Starting", tone: "accent" },
  binding_session: { word: "Binding session", tone: "accent" },
  running: { word: "Running", tone: "accent" },
  suspended: { word: "Suspended", tone: "warn" },
  completed: { word: "Completed", tone: "good" },
  failed: { word: "Failed", tone: "bad" },
  cancelled: { word: "Cancelled", tone: "calm" }
}

export const runLook = (status: RunStatus): Look => runLooks[status]

const participantLooks: Readonly<Record<ParticipantStatus, Look>> = {
  idle: { word: "Idle", tone: "calm" },
  active: { word: "Active", tone: "accent" },
  waiting: { word: "Waiting", tone: "warn" },
  completed: { word: "Done", tone: "good" },
  failed: { word: "Failed", tone: "bad" },
  skipped: { word: "Skipped", tone: "calm" }
}

export const participantLook = (status: ParticipantStatus): Look => participantLooks[status]
