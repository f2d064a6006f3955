import * as Context from "effect/Context"

/** Told of signals that are lost. */
export interface SignalLosses {
  /** The runtime has dropped signals, nobody knows how many: `proto_signal_gaps_total`. */
  readonly gap: () => void
  /** A signal could not be stored: `proto_signals_lost_total`. */
  readonly lost: () => void
}

export const SignalMeter = Context.Reference<SignalLosses>("runplane/control-plane/SignalMeter", {
  defaultValue: () => ({ gap: () => undefined, lost: () => undefined })
})
