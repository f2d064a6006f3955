import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

const text = (value: string) => Schema.String.pipe(Schema.withDecodingDefault(Effect.succeed(value)))
const number = (value: number) => Schema.Finite.pipe(Schema.withDecodingDefault(Effect.succeed(value)))
const flag = (value: boolean) => Schema.Boolean.pipe(Schema.withDecodingDefault(Effect.succeed(value)))

/** What the agents know about an incident: the session context of the scenario `incident/region-failover`. */
export const IncidentContext = Schema.Struct({
  incidentId: text("INC-0000"),
  service: text("service"),
  severity: text("sev2"),
  errorRatePercent: number(0),
  replicationLagSeconds: number(0),
  customerFacing: flag(true),
  standby: Schema.Struct({ region: text("standby"), warm: flag(true) }).pipe(
    Schema.withDecodingDefault(Effect.succeed({}))
  )
})

export type IncidentContext = typeof IncidentContext.Type

const decode = Schema.decodeUnknownOption(IncidentContext)
const unknownIncident: IncidentContext = Schema.decodeUnknownSync(IncidentContext)({})

/** Reads a session context; one that is absent or of another scenario gives the defaults. */
export const incidentOf = (context: unknown): IncidentContext =>
  Option.getOrElse(decode(context ?? {}), () => unknownIncident)
