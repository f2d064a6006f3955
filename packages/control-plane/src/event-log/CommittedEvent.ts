import type { CanonicalEventType } from "@runplane/domain"

/** A committed event with the text under which it is stored, streamed and served. */
export interface CommittedEvent {
  readonly seq: number
  readonly index: number
  readonly type: CanonicalEventType
  readonly json: string
}
