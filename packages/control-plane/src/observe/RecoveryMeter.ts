import * as Context from "effect/Context"

/**
 * Told how it went whenever an unfinished run was to be taken up that nobody observed: the counter
 * `proto_recovery_total`. A run whose observer fails before it has found its place again is tried again later, and
 * counts each time.
 */
export const RecoveryMeter = Context.Reference<(status: "success" | "failed") => void>(
  "runplane/control-plane/RecoveryMeter",
  { defaultValue: () => () => undefined }
)
