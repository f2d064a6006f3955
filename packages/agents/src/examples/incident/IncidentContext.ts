import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { contextReader, flag, number, text } from "../runner/ContextFields.ts"

/** What the agents know about an incident: the session context of the scenario `incident/region-failover`. */
export const IncidentContext = Schema.Struct({
  incidentId: text("INC-0000"),
  service: text("service"),
  severity: text("sev2"),
  errorRatePercent: number(0),
  replicationLagSeconds: number(0),
  customerFacing: flag(true),
  /** The region recovers by itself before the bridge decides. */
  recoversMeanwhile: flag(false),
  standby: Schema.Struct({ region: text("standby"), warm: flag(true) }).pipe(
    Schema.withDecodingDefault(Effect.succeed({}))
  )
})

export type IncidentContext = typeof IncidentContext.Type

export const incidentOf = contextReader(IncidentContext)
