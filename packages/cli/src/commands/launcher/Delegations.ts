import type { Delegation } from "@runplane/api"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { withLauncher } from "../../Connection.ts"
import { printDone, printRows } from "../../Output.ts"

const scenariosText = ({ scenarios }: Delegation): string => scenarios?.join(", ") ?? "all"

/** `runplane inbox delegations` */
export const delegations = Command.make("delegations", {}, () =>
  withLauncher((launcher) =>
    Effect.gen(function* () {
      const lists = yield* launcher.delegations.list({})
      yield* printRows(
        [
          { title: "ID", text: ({ id }) => id },
          { title: "BY", text: ({ by }) => by },
          { title: "TO", text: ({ to }) => to },
          { title: "STATE", text: ({ state }) => state },
          { title: "FROM", text: ({ from }) => from, dropped: 2 },
          { title: "UNTIL", text: ({ until }) => until },
          { title: "SCENARIOS", text: scenariosText, dropped: 1 },
          { title: "REASON", text: ({ reason }) => reason, elastic: true }
        ],
        [...lists.given, ...lists.received],
        lists
      )
    })
  )
).pipe(Command.withDescription("List who may answer for the caller, and for whom the caller may"))

const TIME = "with an offset, or with a zone as in 2026-12-24T18:00[Europe/Berlin]"

/** `runplane inbox delegate` */
export const delegate = Command.make(
  "delegate",
  {
    to: Flag.String("to").pipe(Flag.withDescription("Who may answer: person: and an id")),
    until: Flag.String("until").pipe(Flag.withDescription(`Until when, at most 90 days: a time ${TIME}`)),
    from: Flag.String("from").pipe(Flag.withDescription(`Since when; now unless given: a time ${TIME}`), Flag.optional),
    scenario: Flag.String("scenario").pipe(
      Flag.withDescription("Only for pack/scenario, with or without @version, and more than once for several"),
      Flag.between(0, 50)
    ),
    reason: Flag.String("reason").pipe(Flag.withDescription("Why; the delegate reads it"))
  },
  ({ from, reason, scenario, to, until }) =>
    withLauncher((launcher) =>
      Effect.gen(function* () {
        const made = yield* launcher.delegations.create({
          headers: {},
          payload: {
            ...{ to, until, reason },
            ...(Option.isSome(from) && { from: from.value }),
            ...(scenario.length > 0 && { scenarios: scenario })
          }
        })
        yield* printDone(
          `${made.to} may answer for ${made.by} from ${made.from} until ${made.until}; revoke it with: ` +
            `runplane inbox revoke ${made.id}`,
          made
        )
      })
    )
).pipe(Command.withDescription("Let another person answer for the caller, who may still answer too"))

/** `runplane inbox revoke` */
export const revoke = Command.make(
  "revoke",
  { id: Argument.String("id").pipe(Argument.withDescription("Id of the delegation, from `inbox delegations`")) },
  ({ id }) =>
    withLauncher((launcher) =>
      Effect.gen(function* () {
        const revoked = yield* launcher.delegations.revoke({ params: { id }, headers: {} })
        yield* printDone(`${revoked.to} answers for ${revoked.by} no more`, revoked)
      })
    )
).pipe(Command.withDescription("End a delegation of the caller now; answers that were given by it stay"))
