/** What a poll of the page has read, and how the latest attempt went. */
export interface PolledRead {
  /** When it was read, milliseconds; 0: never. */
  readonly readAt: number
  /** Failed attempts since then. */
  readonly failures: number
  /** Milliseconds between polls; undefined: it is read once. */
  readonly everyMs: number | undefined
}

/** A first failure is repeated within half a second, and may have passed. */
const FEW_FAILURES = 1
/** Polls that a read may miss, such as while the machine is busy. */
const MISSED_POLLS = 3
const BUSY_MS = 5_000

/** Whether the latest attempts failed. */
export const isFailing = (failures: number): boolean => failures > FEW_FAILURES

/** When the oldest data of a page were read, if they could not be refreshed; 0: some were never read. */
export const oldestOf = (reads: ReadonlyArray<PolledRead>, now: number): number | undefined => {
  const old = reads.filter(
    ({ everyMs, failures, readAt }) =>
      isFailing(failures) || (readAt > 0 && everyMs !== undefined && now - readAt > MISSED_POLLS * everyMs + BUSY_MS)
  )
  return old.length === 0 ? undefined : Math.min(...old.map(({ readAt }) => readAt))
}
