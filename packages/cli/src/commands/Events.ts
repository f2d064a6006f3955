import type { ControlPlaneCalls } from "@runplane/api"
import type { CanonicalEvent } from "@runplane/domain"
import * as Console from "effect/Console"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { usageProblem } from "../CliFailure.ts"
import { withControlPlane } from "../Connection.ts"
import { output } from "../Output.ts"
import { narrate } from "../story/Narration.ts"
import { plainText } from "../story/PlainText.ts"

/** Pause between two looks when there is nothing new: a key may make 100 requests a minute. */
const PAUSE = "2 seconds"
const PAGE = 500

/** `runplane events tail` */
const tail = Command.make(
  "tail",
  {
    type: Flag.String("type").pipe(Flag.withDescription("Only events of this type; may be repeated"), Flag.atLeast(0)),
    after: Flag.Int("after").pipe(Flag.withDescription("Begin after this seq; now without it"), Flag.optional),
    once: Flag.Boolean("once").pipe(Flag.withDescription("End at the newest event"), Flag.withDefault(false))
  },
  ({ after, once, type }) =>
    withControlPlane(({ api }) =>
      Effect.gen(function* () {
        const { format, style } = yield* output
        if (format === "json") return yield* usageProblem("a tail has no end: use --jsonl")
        const page = (afterSeq: number) =>
          api.crossRunEvents.list({ query: { afterSeq, limit: PAGE, ...(type.length > 0 && { type }) } })
        const print = (event: CanonicalEvent) =>
          format === "jsonl" ? Console.log(JSON.stringify(event)) : Console.log(lineOf(event, style.dim))
        let seq = Option.isSome(after) ? after.value : yield* newestSeq(api)
        while (true) {
          const { data, nextCursor } = yield* page(seq)
          yield* Effect.forEach(data, print, { discard: true })
          seq = data.at(-1)?.seq ?? seq
          if (nextCursor !== undefined) continue
          if (once) return
          yield* Effect.sleep(PAUSE)
        }
      })
    )
).pipe(Command.withDescription("Follow the events of all runs"))

/** The seq of the last event that is known of: of the runs that changed last. */
const newestSeq = (api: ControlPlaneCalls) =>
  Effect.map(
    api.runs.list({
      query: { limit: 200, offset: 0, sortBy: "updatedAt", sortOrder: "desc", includeArchived: true }
    }),
    ({ data }) => Math.max(0, ...data.map(({ lastEventSeq }) => lastEventSeq))
  )

const lineOf = (event: CanonicalEvent, dim: (text: string) => string) => {
  const told = narrate(event)
  const words = told === undefined ? "" : `  ${told.who}: ${told.what}`
  return `${dim(`${event.ts.slice(11, 23)} ${event.runId.slice(0, 8)}`)}  ${plainText(event.type)}${words}`
}

/** `runplane events ...` */
export const events = Command.make("events").pipe(
  Command.withDescription("The events of all runs"),
  Command.withSubcommands([tail])
)
