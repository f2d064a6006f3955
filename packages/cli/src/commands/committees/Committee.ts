import { DEFAULT_AGREEMENT, DEFAULT_ALPHA, MAX_SEARCHED_POLICIES } from "@runplane/api"
import * as Console from "effect/Console"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { usageProblem } from "../../CliFailure.ts"
import { withControlPlane } from "../../Connection.ts"
import { output, printedAsJson } from "../../Output.ts"
import { timeOf } from "../common/Since.ts"
import { readPolicy } from "../decisions/PolicyFlags.ts"
import { independenceLines, searchLines, worthLines } from "./CommitteeLines.ts"

const scope = {
  q: Argument.String("search").pipe(
    Argument.withDescription("Ended runs that this search finds; without it all ended runs"),
    Argument.optional
  ),
  since: Flag.String("since").pipe(
    Flag.withDescription("Only runs created since this time: 30d, 12h, or a date"),
    Flag.optional
  )
}

const sinceOf = (since: Option.Option<string>) =>
  Option.isNone(since) ? Effect.succeed({}) : Effect.map(timeOf(since.value), (time) => ({ since: time }))

interface Page {
  readonly truncated: boolean
  readonly waiting: number
}

const printed = (blocks: ReadonlyArray<ReadonlyArray<string>>, { truncated, waiting }: Page) => {
  const notes = [
    ...(blocks.length === 0 ? ["No ended run has votes."] : []),
    ...(truncated ? ["There are more runs or committees than this counts; --since or a search names fewer."] : []),
    ...(waiting > 0 ? [`${waiting} ended runs are still being read.`] : [])
  ]
  const all = notes.length === 0 ? blocks : [...blocks, notes]
  return Console.log(all.map((lines) => lines.join("\n")).join("\n\n"))
}

const independence = Command.make(
  "independence",
  {
    ...scope,
    seats: Flag.String("seats").pipe(
      Flag.withDescription("These participants as one committee, separated by commas"),
      Flag.optional
    )
  },
  ({ q, seats, since }) =>
    Effect.gen(function* () {
      const from = yield* sinceOf(since)
      yield* withControlPlane(({ api }) =>
        Effect.gen(function* () {
          const found = yield* api.committees.independence({
            query: {
              ...from,
              ...(Option.isSome(q) && { q: q.value }),
              ...(Option.isSome(seats) && { seats: seats.value.split(",") })
            }
          })
          if (yield* printedAsJson(found)) return
          const { width } = yield* output
          yield* printed(
            found.data.map((one) => independenceLines(one, width)),
            found
          )
        })
      )
    })
).pipe(Command.withDescription("Show how many independent voters committees have, and who errs with whom"))

const seats = Command.make("seats", scope, ({ q, since }) =>
  Effect.gen(function* () {
    const from = yield* sinceOf(since)
    yield* withControlPlane(({ api }) =>
      Effect.gen(function* () {
        const found = yield* api.committees.seats({ query: { ...from, ...(Option.isSome(q) && { q: q.value }) } })
        if (yield* printedAsJson(found)) return
        const { width } = yield* output
        yield* printed(
          found.data.map((one) => worthLines(one, width)),
          found
        )
      })
    )
  })
).pipe(Command.withDescription("Show what each voter of a committee is worth, and what it costs"))

const search = Command.make(
  "search",
  {
    q: Argument.String("search").pipe(Argument.withDescription("Ended runs that this search finds")),
    maxSeats: Flag.Int("max-seats").pipe(Flag.withDescription("Most seats of the smaller committee"), Flag.optional),
    keepAgreement: Flag.Finite("keep").pipe(
      Flag.withDescription("The share of cases whose outcome must stay the same"),
      Flag.withDefault(DEFAULT_AGREEMENT)
    ),
    alpha: Flag.Finite("alpha").pipe(
      Flag.withDescription("One less the confidence of the bound that confirms it"),
      Flag.withDefault(DEFAULT_ALPHA)
    ),
    policies: Flag.String("policy").pipe(
      Flag.withDescription(
        `Also try under the policy of this file, JSON {mode, schemaVersion, rules}; up to ${MAX_SEARCHED_POLICIES}`
      ),
      Flag.atLeast(0)
    ),
    versions: Flag.String("policy-version").pipe(
      Flag.withDescription("Also try under this registered policy; may be repeated"),
      Flag.atLeast(0)
    )
  },
  ({ alpha, keepAgreement, maxSeats, policies, q, versions }) =>
    Effect.gen(function* () {
      if (policies.filter((file) => file === "-").length > 1) {
        return yield* usageProblem("--policy - reads standard input, and can be there once")
      }
      const tried = [
        ...(yield* Effect.forEach(policies, (file) => Effect.map(readPolicy(file), (policy) => ({ policy })))),
        ...versions.map((policyVersion) => ({ policyVersion }))
      ]
      yield* withControlPlane(({ api }) =>
        Effect.gen(function* () {
          const found = yield* api.committees.search({
            payload: {
              ...{ q, keepAgreement, alpha },
              ...(Option.isSome(maxSeats) && { maxSeats: maxSeats.value }),
              ...(tried.length > 0 && { policies: tried })
            }
          })
          if (yield* printedAsJson(found)) return
          yield* Console.log(searchLines(found, [...policies, ...versions]).join("\n"))
        })
      )
    })
).pipe(Command.withDescription("Search the cheapest committee with the same outcomes, on runs that confirm it"))

/** `runplane committee` (docs/reference/committees.md) */
export const committee = Command.make("committee").pipe(
  Command.withDescription("Show how independent the voters of runs are, and what each is worth"),
  Command.withSubcommands([independence, seats, search])
)
