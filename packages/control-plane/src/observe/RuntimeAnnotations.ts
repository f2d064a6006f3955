/** Messages that only a runtime writes into a session's history, when the session is paused or cancelled. */
export const ANNOTATIONS: ReadonlyArray<string> = ["SessionCancel", "SessionSuspend", "SessionResume"]

/** An unanswered offer is answered by the runtime in the target's name, under ids of its own. */
export const ANSWER = "HandoffAccept"
export const IMPLICIT_ANSWER = "implicit-accept:"

/** Whether the runtime itself wrote an envelope: it has an ordinal, but counts as nobody's activity. */
export const isWrittenByRuntime = (envelope: { readonly messageId: string; readonly messageType: string }): boolean =>
  ANNOTATIONS.includes(envelope.messageType) ||
  (envelope.messageType === ANSWER && envelope.messageId.startsWith(IMPLICIT_ANSWER))
