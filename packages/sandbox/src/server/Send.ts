import type { Ack, Envelope } from "@runplane/runtime"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Identity } from "../auth/Identity.ts"
import { checkShape } from "../core/EnvelopeShape.ts"
import type { Rejection } from "../core/Rejection.ts"
import type { Kernel } from "../kernel/Kernel.ts"
import type { SandboxOptions } from "../SandboxOptions.ts"
import { ackOf } from "./Answers.ts"

/**
 * Send (docs/internals/runtime.md#envelope-shape) checks the shape, the caller and its permissions, and then calls the
 * kernel. The acknowledgement carries every refusal.
 */
export const send = (
  kernel: Kernel["Service"],
  options: SandboxOptions,
  envelope: Envelope,
  identify: Effect.Effect<Identity, Rejection>
): Effect.Effect<Ack> =>
  Effect.gen(function* () {
    const misshapen = checkShape(envelope, options.maxPayloadBytes)
    if (misshapen !== undefined) return yield* Effect.fail(misshapen)
    const identity = yield* identify
    yield* kernel.admit(envelope, identity)
    return yield* kernel.accept(envelope, identity)
  }).pipe(
    Effect.result,
    Effect.zipWith(Clock.currentTimeMillis, (result, now) => ackOf(result, envelope, now, options.release))
  )
