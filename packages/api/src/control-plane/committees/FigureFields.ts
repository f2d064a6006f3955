import { about, Field } from "@runplane/domain"
import * as Schema from "effect/Schema"

const optional = Schema.optionalKey

export const seat = Field.text("Participant id of the seat", "risk-analyst")

export const interval = { low: Field.number("Lower end of its interval", 0.42), high: Field.number("Upper end", 0.91) }

/** A share with its interval of 95 %. */
export const share = (description: string) =>
  Schema.Struct({ rate: Field.number("The share", 0.75), ...interval }).annotate({ description })

/** A number of runs out of others. */
export const countedShare = (description: string) =>
  Schema.Struct({
    count: Field.integer("So many runs", 3),
    n: Field.integer("Of so many", 120),
    rate: Field.number("Their share", 0.025),
    ...interval
  }).annotate({ description: `${description}; the interval is of 95 %` })

export const figure = (description: string) =>
  Schema.Struct({ value: Field.number("The figure", 0.43), ...interval }).annotate({ description })

/** How often a seat erred, or a shadow. */
export const errorFields = {
  runs: Field.integer("Runs with a truth in which it voted for or against", 93),
  cases: Field.integer("Different cases of these", 71),
  errors: Field.integer("Votes for a wrong or against a right decision", 14),
  accuracy: optional(share("Share of right votes; absent without runs")),
  leftOut: optional(
    Schema.Literals(["no value", "always right", "always wrong", "too few shared runs"]).annotate(
      about("Why the seat has no correlation; absent for a seat that counts", "always right")
    )
  )
}

export const SeatPair = Schema.Struct({
  left: seat,
  right: seat,
  errors: Schema.Struct({
    sharedRuns: Field.integer("Runs in which both have a value", 90),
    both: Field.integer("Both erred", 9),
    leftOnly: Field.integer("Only the left one erred", 5),
    rightOnly: Field.integer("Only the right one erred", 4),
    neither: Field.integer("Neither erred", 72),
    phi: optional(figure("Correlation of their errors; absent where one of them never or always errs in these runs")),
    largestPhi: optional(Field.number("The largest correlation that their accuracies allow", 0.88)),
    isTooFew: Field.flag("Whether the pair has too few shared runs to count")
  }).annotate({ description: "How their errors go together" }),
  agreement: Schema.Struct({
    runs: Field.integer("Runs in which both voted", 118),
    agreed: Field.integer("Of these, runs with the same vote", 104),
    share: optional(share("Their share; absent without runs")),
    kappa: optional(Field.number("Cohen's kappa; absent where it is not defined", 0.61))
  }).annotate({ description: "How often they cast the same vote: it needs no truth, and bounds nothing" })
}).annotate({ identifier: "CommitteeSeatPair", description: "Two seats" })
