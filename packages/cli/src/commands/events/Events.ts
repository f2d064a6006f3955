import type { ControlPlaneCalls, LogPage } from "@runplane/api"
import { type CanonicalEvent, subjectsOfRuns } from "@runplane/domain"
import * as Console from "effect/Console"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { usageProblem } from "../../CliFailure.ts"
import { withControlPlane } from "../../Connection.ts"
import { jsonText } from "../../JsonText.ts"
import { lineOf } from "../../narrative/Narrative.ts"
import { plainText } from "../../narrative/PlainText.ts"
import { output } from "../../Output.ts"
import { printInterruption } from "../streams/Watch.ts"

const PAGE = 500

/** `runplane events tail` */
const tail = Command.make(
  "tail",
  {
    type: Flag.String("type").pipe(Flag.withDescription("Only events of this type; may be repeated"), Flag.atLeast(0)),
    q: Flag.String("q").pipe(
      Flag.withDescription("Only events that this search finds, such as 'sender:risk -type:signal.emitted'"),
      Flag.optional
    ),
    after: Flag.Int("after").pipe(Flag.withDescription("Begin after this seq; now without it"), Flag.optional),
    once: Flag.Boolean("once").pipe(Flag.withDescription("End at the newest event"), Flag.withDefault(false))
  },
  ({ after, once, q, type }) =>
    withControlPlane(({ api, streamLog }) =>
      Effect.gen(function* () {
        const { format, style } = yield* output
        if (format === "json") return yield* usageProblem("a tail has no end: use --jsonl")
        const about = subjectsOfRuns()
        const print = (event: CanonicalEvent) =>
          format === "jsonl" ? Console.log(jsonText(event)) : Console.log(tailLine(event, style.dim, about(event)))
        const search = { ...(Option.isSome(q) && { q: q.value }) }
        if (once) {
          let afterSeq: number | undefined = Option.isSome(after) ? after.value : yield* newestSeq(api)
          while (afterSeq !== undefined) {
            const found: LogPage = yield* api.crossRunEvents.list({
              query: { afterSeq, limit: PAGE, ...(type.length > 0 && { type }), ...search }
            })
            yield* Effect.forEach(found.data, print, { discard: true })
            afterSeq = found.nextCursor
          }
          return
        }
        // Fails when the service is not reachable; a connection lost later is made again.
        yield* api.me.me()
        const options = { types: type, ...search, ...(Option.isSome(after) && { afterSeq: after.value }) }
        yield* Stream.runForEach(streamLog({ ...options, onInterruption: printInterruption }), (frame) => {
          if (frame.event === "canonical_event") return print(frame.data)
          if (frame.event !== "reset") return Effect.void
          return Console.error(`the service was restored from a backup: events after ${frame.data.seq} are void`)
        })
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

const tailLine = (event: CanonicalEvent, dim: (text: string) => string, about: string | undefined) => {
  const line = lineOf(event, about)
  const words = line === undefined ? "" : `  ${line.who}: ${line.what}`
  return `${dim(`${event.ts.slice(11, 23)} ${event.runId}`)}  ${plainText(event.type)}${words}`
}

/** `runplane events ...` */
export const events = Command.make("events").pipe(
  Command.withDescription("The events of all runs"),
  Command.withSubcommands([tail])
)
