import { about, Field, PolicySchemaVersion } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { integer, uuid, withDefault } from "../../validation/Fields.ts"
import { querySchema } from "../../validation/RequestSchema.ts"
import { DEFAULT_POLICY_SCHEMA_VERSION } from "../policies/PolicyRequests.ts"

const optional = Schema.optionalKey

/** Most votes, and most participants, of one question. */
export const MAX_CHANGED_VOTES = 1_000
const MAX_ID_LENGTH = 4_096

const id = (description: string, example: string) =>
  Field.text(description, example).check(Schema.isNonEmpty(), Schema.isMaxLength(MAX_ID_LENGTH))

/** Id of a registered policy. */
export const policyName = (description: string) => id(description, "policy.incident.strict")

export const forecastQuery = querySchema({
  atSeq: optional(integer({ min: 0 }).annotate(about("As if the log ended with this event; all of it unless said", 50)))
})

export const divergenceQuery = querySchema({
  with: uuid("The run that it is compared with", "0197c0de-6f0a-7c53-9a56-0d9c6f5f7a10")
})

/** Rules in place of those that governed a run. */
export const OtherPolicy = Schema.Struct({
  mode: withDefault(Field.text("Session mode that it is for; * for every mode", "macp.mode.decision.v1"), "*"),
  schemaVersion: withDefault(
    PolicySchemaVersion.annotate({
      message: `schemaVersion must be one of ${PolicySchemaVersion.literals.join(", ")}`,
      ...about("Version of the form of the rules", DEFAULT_POLICY_SCHEMA_VERSION)
    }).check(Schema.isInt()),
    DEFAULT_POLICY_SCHEMA_VERSION
  ),
  rules: Field.object("The rules, as for a registration", { voting: { algorithm: "unanimous" } })
}).annotate({ identifier: "OtherPolicy", description: "A policy that need not be registered" })

/** The body of `POST /runs/:id/what-if`. */
export const WhatIfRequest = Schema.Struct({
  policyVersion: optional(policyName("A registered policy in place of the run's")),
  policy: optional(OtherPolicy),
  votes: optional(
    Schema.Array(
      Schema.Struct({
        participantId: id("Whose vote", "agent://risk"),
        proposalId: optional(id("What it is about; may be left out when only one thing was voted on", "p1")),
        vote: Schema.Literals(["APPROVE", "REJECT", "ABSTAIN"]).annotate(about("What it says", "REJECT"))
      })
    )
      .annotate({ description: "Votes in place of those that were cast, or beside them" })
      .check(Schema.isMaxLength(MAX_CHANGED_VOTES))
  ),
  without: optional(
    Schema.Array(id("Participant", "agent://risk"))
      .annotate({ description: "Participants as if they had said nothing" })
      .check(Schema.isMaxLength(MAX_CHANGED_VOTES))
  )
}).annotate({ identifier: "WhatIfRequest", description: "What is to be different" })
