import * as Context from "effect/Context"

/** Told of every event stream of a client that begins or ends. */
export const StreamMeter = Context.Reference<{ readonly opened: () => void; readonly closed: () => void }>(
  "runplane/control-plane/StreamMeter",
  { defaultValue: () => ({ opened: () => undefined, closed: () => undefined }) }
)
