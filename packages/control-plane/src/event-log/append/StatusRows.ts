/** Changes of status, column by column, each run once. Where there is nothing to say, a text is empty. */
export interface StatusRows {
  readonly runId: Array<string>
  readonly status: Array<string>
  readonly revision: Array<number>
  readonly startedAt: Array<string>
  readonly endedAt: Array<string>
  readonly errorCode: Array<string>
  readonly errorMessage: Array<string>
}

/** What events say of sessions, column by column, each run once. Where there is nothing to say, a text is empty. */
export interface SessionRows {
  readonly runId: Array<string>
  readonly at: Array<string>
  readonly state: Array<string>
  readonly connectedAt: Array<string>
  readonly disconnectedAt: Array<string>
}
