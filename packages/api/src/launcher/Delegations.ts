import { about, Field, isOfForm, isOneLine, isVisible, MAX_REASON, TIME_FORM } from "@runplane/domain"
import * as Schema from "effect/Schema"

const absent = Schema.optionalKey

const MAX_PERSON = 300
const MAX_TIME = 100
const MAX_SCENARIO = 300
/** Scenarios of one delegation. */
const MAX_SCENARIOS = 50
const PERSON = /^person:\S+$/
/** `pack/scenario`, with or without a version. */
const SCENARIO = /^[^\s/@]+\/[^\s/@]+(?:@[^\s/@]+)?$/

const stateText = "planned before its beginning, active, ended by its time, or revoked by its author"

/** A delegation as its two persons read it. */
export const Delegation = Schema.Struct({
  id: Field.text("Id of the delegation: UUID", "0197c0de-6f0a-7c53-9a56-0d9c6f5f7a11"),
  by: Field.text("The person who delegates", "ana"),
  to: Field.text("The delegate", "ben"),
  from: Field.time("Since when it gives a right"),
  until: Field.time("Until when"),
  scenarios: absent(Field.texts("The scenarios for which it holds; absent: all")),
  reason: Field.text("Why, in the words of its author; empty once it is erased"),
  state: Schema.Literals(["planned", "active", "ended", "revoked"]).annotate({ description: stateText }),
  createdAt: Field.time("When it was made"),
  revokedAt: absent(Field.time("When it was revoked"))
}).annotate({ identifier: "Delegation", description: "A right of one person that another one uses for some time" })
export type Delegation = typeof Delegation.Type

export const DelegationLists = Schema.Struct({
  given: Schema.Array(Delegation).annotate({ description: "Those that the caller has given, the newest first" }),
  received: Schema.Array(Delegation).annotate({
    description: "Those that the caller has received, the latest end first"
  }),
  nonce: absent(Field.text("For the header x-page-nonce of a write; only for a caller that is known by its cookie"))
}).annotate({ identifier: "DelegationLists", description: "The delegations of the caller, at most 200 of each kind" })
export type DelegationLists = typeof DelegationLists.Type

const time = (description: string) =>
  Schema.String.annotate(about(`${description}: ${TIME_FORM}`, "2026-12-24T18:00[Europe/Berlin]")).check(
    Schema.isMaxLength(MAX_TIME),
    isOneLine
  )

/** The body of `POST /people/me/delegations`. */
export const DelegationRequest = Schema.Struct({
  to: Field.text("`person:` and an id: who may answer for the caller", "person:ben").check(
    Schema.isMaxLength(MAX_PERSON),
    isOneLine,
    isOfForm(PERSON)
  ),
  from: absent(time("Since when; now unless said")),
  until: time("Until when, at most 90 days of 24 hours later"),
  scenarios: absent(
    Schema.Array(
      Schema.String.annotate(about("pack/scenario, with or without @version", "incident/night-failover")).check(
        Schema.isMaxLength(MAX_SCENARIO),
        isOfForm(SCENARIO)
      )
    )
      .check(Schema.isMinLength(1), Schema.isMaxLength(MAX_SCENARIOS))
      .annotate({ description: "The scenarios for which it holds; absent: all" })
  ),
  reason: Field.text("Why; the delegate reads it", "on leave").check(
    Schema.isMinLength(1),
    Schema.isMaxLength(MAX_REASON),
    isVisible
  )
}).annotate({ identifier: "DelegationRequest", description: "A right of the caller that another person is to use" })
export type DelegationRequest = typeof DelegationRequest.Type
