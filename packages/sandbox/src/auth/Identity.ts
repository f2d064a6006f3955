/** Who is calling and what that allows (docs/internals/runtime.md#identities). */
export interface Identity {
  readonly sender: string
  /** Undefined allows every mode. A set must hold `""` for ambient Signals and Progress. */
  readonly allowedModes: ReadonlySet<string> | undefined
  readonly canStartSessions: boolean
  /** OPEN sessions this identity may have started; undefined is unlimited. */
  readonly maxOpenSessions: number | undefined
  /** Modes and policies. */
  readonly canManageModeRegistry: boolean
  /** GetSession and passive subscription on any session. */
  readonly isObserver: boolean
}
