import { ALERTMANAGER_RESEND_MS } from "./formats/Alertmanager.ts"

/** A silenced firing is compared with the silences again at least this often: its run can change. Milliseconds. */
export const SILENCE_CHECK_MS = 60_000

/** What is known of the notifications of an open firing. Times are Unix milliseconds. */
export interface NoticeState {
  /** Whether its receivers have its first notification. */
  readonly isNotified: boolean
  readonly isSilenced: boolean
  readonly isAcknowledged: boolean
  /** When it is compared with the silences again, without a notification that is due. */
  readonly checkAt: number | undefined
  readonly repeatAt: number | undefined
  readonly repeatEveryMs: number | undefined
  /** When it is sent to Alertmanager again; undefined where no action has that format. */
  readonly resendAt: number | undefined
}

/** `resent` is for Alertmanager alone. */
export type NoticeKind = "fired" | "repeated" | "resent"

/**
 * What is notified of an open firing now, and what is known of it afterwards (docs/reference/alerts.md#silences).
 * `silencedUntil` is the end of the last silence that covers its run now; undefined without one.
 */
export const nextNotice = (
  state: NoticeState,
  silencedUntil: number | undefined,
  now: number
): { readonly notice: NoticeKind | undefined; readonly state: NoticeState } => {
  if (silencedUntil !== undefined) {
    const checkAt = Math.min(silencedUntil, now + SILENCE_CHECK_MS)
    return { notice: undefined, state: { ...state, isSilenced: true, checkAt } }
  }
  const audible: NoticeState = { ...state, isSilenced: false, checkAt: undefined }
  const isDue = (at: number | undefined) => at !== undefined && at <= now
  const after = (ms: number | undefined) => (ms === undefined ? undefined : now + ms)
  const resendMs = state.resendAt === undefined ? undefined : ALERTMANAGER_RESEND_MS
  if (!state.isNotified) {
    // An operator knows of it already.
    if (state.isAcknowledged)
      return { notice: undefined, state: { ...audible, repeatAt: undefined, resendAt: undefined } }
    const repeatAt = after(state.repeatEveryMs)
    return { notice: "fired", state: { ...audible, isNotified: true, repeatAt, resendAt: after(resendMs) } }
  }
  if (isDue(state.repeatAt) && !state.isAcknowledged) {
    const repeatAt = after(state.repeatEveryMs)
    return { notice: "repeated", state: { ...audible, repeatAt, resendAt: after(resendMs) } }
  }
  if (isDue(state.resendAt)) return { notice: "resent", state: { ...audible, resendAt: after(resendMs) } }
  return { notice: undefined, state: audible }
}
