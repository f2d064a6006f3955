import { StabilityGroup } from "@runplane/api"
import * as Console from "effect/Console"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { withControlPlane } from "../../Connection.ts"
import { stabilityLines } from "../../gate/StabilityLines.ts"
import { output, printedAsJson } from "../../Output.ts"
import { sinceFlag, timeOf } from "../common/Since.ts"

/** `runplane stability "tags:nightly"` (docs/reference/gate.md#stability) */
export const stability = Command.make(
  "stability",
  {
    q: Argument.String("search").pipe(
      Argument.withDescription("Runs that this search finds; without it all runs"),
      Argument.optional
    ),
    since: sinceFlag.pipe(Flag.withDescription("Runs created since this time: 30d, 12h, or a date")),
    by: Flag.Literals("by", StabilityGroup.literals).pipe(
      Flag.withDescription("Also list the stability by this property of the runs"),
      Flag.optional
    ),
    all: Flag.Boolean("all").pipe(
      Flag.withDescription("Also count runs that failed, expired or were cancelled without a decision"),
      Flag.withDefault(false)
    )
  },
  ({ all, by, q, since }) =>
    withControlPlane(({ api }) =>
      Effect.gen(function* () {
        const found = yield* api.decisions.stability({
          query: {
            count: all ? "all" : "decided",
            since: yield* timeOf(since),
            ...(Option.isSome(q) && { q: q.value }),
            ...(Option.isSome(by) && { by: by.value })
          }
        })
        if (yield* printedAsJson(found)) return
        const { style } = yield* output
        yield* Console.log(stabilityLines(found, Option.getOrUndefined(by), style).join("\n"))
      })
    )
).pipe(Command.withDescription("Show how stable the decisions of runs are, and where they part"))
