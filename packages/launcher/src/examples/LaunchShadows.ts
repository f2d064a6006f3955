import type { CompileLaunchResult } from "@runplane/api"
import * as Effect from "effect/Effect"
import type { LaunchedRuns } from "../control-plane/LaunchedRuns.ts"
import type { Shadows } from "../shadows/Shadows.ts"
import type { ParticipantAgents } from "./ParticipantAgents.ts"

interface Services {
  readonly shadows: Shadows["Service"]
  readonly participants: ParticipantAgents["Service"]
  readonly runs: LaunchedRuns["Service"]
}

/** Starts the agents that are tried beside participants: in the background, after their launch has succeeded. */
export const startShadows = (
  { participants, runs, shadows }: Services,
  { shadows: declared = [], ...compiled }: CompileLaunchResult,
  ttlMs: number
) =>
  Effect.forEach(
    declared,
    (shadow) =>
      shadows.start({
        compiled,
        shadow,
        ttlMs,
        agent: Effect.gen(function* () {
          const { runDescriptor } = compiled
          const found = yield* participants.find(shadow.agent)
          const hasTelemetry = runDescriptor.telemetry !== undefined
          const joinHeader = hasTelemetry ? yield* runs.joinHeader(runDescriptor, shadow.shadow) : undefined
          return { ...found, joinHeader }
        })
      }),
    { discard: true }
  )
