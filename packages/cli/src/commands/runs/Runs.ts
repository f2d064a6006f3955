import { type Run, type RunListQuery, RunSort, runSortKeys } from "@runplane/api"
import { RunDescriptor, RunStatus, scenarioOfRecord, unreadSpansText } from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { usageProblem } from "../../CliFailure.ts"
import { withControlPlane } from "../../Connection.ts"
import { outcomeText } from "../../narrative/Narrative.ts"
import { plainText } from "../../narrative/PlainText.ts"
import { readOutcome } from "../../narrative/RunOutcome.ts"
import { output, printDone, printedAsJson, printFacts, printRows } from "../../Output.ts"
import { readJson } from "../common/Input.ts"
import { compare } from "../compare/Compare.ts"
import { decisionCommands } from "../decisions/Decisions.ts"
import { verifyRun } from "../seals/VerifyRun.ts"
import { watchRun } from "../streams/Watch.ts"
import { runColumns } from "./RunColumns.ts"

/** Whether the run has all that was sent. */
const completeness = ({ historyGap, metadata }: Run): string => {
  if (historyGap === true) return "no: messages are known to be missing"
  const unread = unreadSpansText(metadata)
  return unread === undefined ? "yes" : `no: ${plainText(unread)}`
}

const run = Argument.String("run").pipe(Argument.withDescription("Id of the run, or of its session"))
const reason = Flag.String("reason").pipe(Flag.withDescription("Why; part of the log of the run"), Flag.optional)

/** The keys whose values are there. */
const present = <A extends Readonly<Record<string, Option.Option<unknown>>>>(options: A) =>
  Object.fromEntries(
    Object.entries(options).flatMap(([key, value]) => (Option.isSome(value) ? [[key, value.value]] : []))
  ) as {
    readonly [K in keyof A]?: Option.Option.Value<A[K]>
  }

const SORTS = `${runSortKeys.join(", ")}, or a mark: mark.quality`

const list = Command.make(
  "list",
  {
    status: Flag.Literals("status", RunStatus.literals).pipe(
      Flag.withDescription("Only of this status"),
      Flag.optional
    ),
    tag: Flag.String("tag").pipe(Flag.withDescription("Only with this tag; may be repeated"), Flag.atLeast(0)),
    scenario: Flag.String("scenario").pipe(Flag.withDescription("Only of scenarios with this text"), Flag.optional),
    q: Flag.String("q").pipe(
      Flag.withDescription("Only runs that this search finds, such as 'status:failed cost:>0.5'"),
      Flag.optional
    ),
    search: Flag.String("search").pipe(Flag.withDescription("Only with this text in id, tag or policy"), Flag.optional),
    limit: Flag.Int("limit").pipe(Flag.withDescription("Most runs, 1 to 200"), Flag.withDefault(20)),
    offset: Flag.Int("offset").pipe(Flag.withDescription("Runs to leave out before them"), Flag.withDefault(0)),
    sort: Flag.String("sort").pipe(
      Flag.filterMap(Option.liftPredicate(Schema.is(RunSort)), (text) => `${text} is not one of ${SORTS}`),
      Flag.withDescription(SORTS),
      Flag.withDefault("createdAt" as const)
    ),
    order: Flag.Literals("order", ["desc", "asc"]).pipe(
      Flag.withDescription("desc lists the newest or most first"),
      Flag.withDefault("desc" as const)
    ),
    archived: Flag.Boolean("archived").pipe(Flag.withDescription("Archived runs as well"), Flag.withDefault(false))
  },
  ({ archived, limit, offset, order, q, scenario, search, sort, status, tag }) =>
    withControlPlane(({ api }) =>
      Effect.gen(function* () {
        const query: RunListQuery = {
          limit,
          offset,
          sortBy: sort,
          sortOrder: order,
          includeArchived: archived,
          include: ["decision"],
          ...(tag.length > 0 && { tags: tag }),
          ...present({ status, scenarioRef: scenario, search, q })
        }
        const page = yield* api.runs.list({ query })
        yield* printRows(runColumns(yield* Clock.currentTimeMillis), page.data, page)
        const { format } = yield* output
        const shown = offset + page.data.length
        if (format === "text" && shown < page.total) {
          yield* Console.error(`${shown} of ${page.total} runs; --offset ${shown} shows the next`)
        }
      })
    )
).pipe(Command.withDescription("List runs, the newest first, or sorted by what --sort names"))

const show = Command.make("show", { run }, ({ run }) =>
  withControlPlane(({ api }) =>
    Effect.gen(function* () {
      const outcome = yield* readOutcome(api, run)
      const { metrics, run: record, state } = outcome
      if (yield* printedAsJson({ run: record, state, metrics })) return
      const { style } = yield* output
      const { counts, question, word } = yield* api.decisions.card({ params: { id: run }, query: {} })
      yield* printFacts(
        [
          ["Run", record.id],
          ["Question", question],
          ["Status", record.status],
          ["Verdict", `${word}; ${counts}`],
          ["Scenario", scenarioOfRecord(record)],
          ["Session", record.runtimeSessionId],
          ["Mode", state.run.modeName],
          ["Participants", state.participants.map(({ participantId }) => participantId).join(", ")],
          ["Tags", record.tags.join(", ")],
          ["Created", record.createdAt],
          ["Ended", record.endedAt],
          ["Storage", record.storage === "archive" ? "archive, read-only" : undefined],
          ["Complete", completeness(record)]
        ],
        record
      )
      yield* Console.log(`\n${outcomeText(outcome, style)}`)
    })
  )
).pipe(Command.withDescription("Show one run: what it is and how it ended"))

const watch = Command.make(
  "watch",
  {
    run,
    exitStatus: Flag.Boolean("exit-status").pipe(
      Flag.withDescription("Exit code 1 when the run does not complete"),
      Flag.withDefault(false)
    )
  },
  ({ exitStatus, run }) => withControlPlane((client) => watchRun(client, run, { exitStatus }))
).pipe(Command.withDescription("Show a run from its beginning to its end, live or afterwards"))

const create = Command.make(
  "create",
  { file: Argument.String("file").pipe(Argument.withDescription("The run descriptor as JSON; - for standard input")) },
  ({ file }) =>
    Effect.gen(function* () {
      const given = yield* readJson(file)
      const descriptor = yield* Schema.decodeUnknownEffect(RunDescriptor)(given).pipe(
        Effect.mapError((error) => usageProblem(`${file} is not a run descriptor: ${error.message}`))
      )
      yield* withControlPlane(({ api }) =>
        Effect.gen(function* () {
          const accepted = yield* api.runs.create({ payload: descriptor })
          yield* printFacts(
            [
              ["Run", accepted.runId],
              ["Session", accepted.sessionId],
              ["Status", accepted.status],
              ["Watch it", `runplane runs watch ${accepted.runId}`]
            ],
            accepted
          )
        })
      )
    })
).pipe(Command.withDescription("Create a run for a session that its participants open"))

const action = (name: "cancel" | "suspend" | "resume", description: string) =>
  Command.make(name, { run, reason }, ({ reason, run }) =>
    withControlPlane(({ api }) =>
      Effect.gen(function* () {
        const changed = yield* api.runs[name]({ params: { id: run }, payload: present({ reason }) })
        yield* printDone(`run ${changed.id} is ${changed.status}`, changed)
      })
    )
  ).pipe(Command.withDescription(description))

const abandon = Command.make(
  "abandon",
  {
    run,
    reason: Flag.String("reason").pipe(Flag.withDescription("Why its session will not be opened; part of the run"))
  },
  ({ reason, run }) =>
    withControlPlane(({ api }) =>
      Effect.gen(function* () {
        const changed = yield* api.runs.abandon({ params: { id: run }, payload: { reason } })
        yield* printDone(`run ${changed.id} is ${changed.status}`, changed)
      })
    )
).pipe(Command.withDescription("Fail a run whose session will not be opened, or is lost by the runtime"))

const archival = (name: "archive" | "unarchive", description: string) =>
  Command.make(name, { run }, ({ run }) =>
    withControlPlane(({ api }) =>
      Effect.gen(function* () {
        const changed = yield* api.management[name]({ params: { id: run } })
        yield* printDone(`run ${changed.id} is ${changed.archivedAt === null ? "not archived" : "archived"}`, changed)
      })
    )
  ).pipe(Command.withDescription(description))

const exported = Command.make(
  "export",
  {
    run,
    format: Flag.Literals("format", ["json", "jsonl"]).pipe(
      Flag.withDescription("One document, or one JSON object a line for runs of any length"),
      Flag.withDefault("json" as const)
    ),
    raw: Flag.Boolean("raw").pipe(Flag.withDescription("The runtime's frames as well"), Flag.withDefault(false)),
    events: Flag.Int("events").pipe(Flag.withDescription("Most events, 1 to 50000"), Flag.withDefault(50_000)),
    file: Flag.String("output").pipe(
      Flag.withAlias("o"),
      Flag.withDescription("Write to this file; standard output without it"),
      Flag.optional
    )
  },
  ({ events, file, format, raw, run }) =>
    withControlPlane(({ api }) =>
      Effect.gen(function* () {
        const query = { includeCanonical: true, includeRaw: raw, includeMarks: true, eventLimit: events, format }
        const request = { params: { id: run }, query, responseMode: "decoded-and-response" } as const
        const [, response] = yield* api.exports.export(request)
        // Byte by byte as received: its digest covers these bytes.
        const text = yield* response.text
        if (Option.isNone(file)) return yield* Console.log(text.trimEnd())
        const fs = yield* FileSystem.FileSystem
        yield* Effect.mapError(fs.writeFileString(file.value, text), ({ reason }) =>
          usageProblem(`${file.value} cannot be written (${reason._tag})`)
        )
        yield* Console.error(`wrote ${file.value}, ${text.length} characters`)
      })
    )
).pipe(Command.withDescription("Export a run with its events"))

const remove = Command.make(
  "delete",
  {
    run,
    yes: Flag.Boolean("yes").pipe(
      Flag.withDescription("Confirm: a deleted run cannot be restored"),
      Flag.withDefault(false)
    )
  },
  ({ run, yes }) =>
    Effect.gen(function* () {
      if (!yes) return yield* usageProblem(`deleting ${run} cannot be undone; say --yes`)
      yield* withControlPlane(({ api }) => api.management.remove({ params: { id: run } }))
      yield* printDone(`run ${run} is deleted`, { deleted: run })
    })
).pipe(Command.withDescription("Delete an ended run with everything of it"))

/** `runplane runs ...` */
export const runs = Command.make("runs").pipe(
  Command.withDescription("Show runs and steer them"),
  Command.withSubcommands([
    list,
    show,
    watch,
    create,
    action("cancel", "Cancel a run"),
    action("suspend", "Suspend a run"),
    action("resume", "Resume a suspended run"),
    abandon,
    archival("archive", "Hide a run from the default lists"),
    archival("unarchive", "Show an archived run in the default lists again"),
    exported,
    verifyRun,
    ...decisionCommands,
    compare,
    remove
  ])
)
