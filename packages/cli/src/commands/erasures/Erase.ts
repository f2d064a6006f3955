import type { Erasure, ErasureJob, RemainingText } from "@runplane/api"
import * as Console from "effect/Console"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { usageProblem } from "../../CliFailure.ts"
import { withControlPlane, withLauncher } from "../../Connection.ts"
import { output, printFacts, printRows } from "../../Output.ts"
import { textOfStdin } from "../common/Input.ts"

const STDIN = "-"

const find = Flag.String("find").pipe(
  Flag.withDescription("Text to erase wherever it is, without case; - reads it from standard input, off the history")
)
const reason = Flag.String("reason").pipe(
  Flag.withDescription("Why; it stays for all readers, so it must not contain the text")
)
const plan = Flag.String("plan").pipe(
  Flag.withDescription("The plan of the dry run before: erases. Without it nothing is erased"),
  Flag.optional
)
const member = Flag.String("member").pipe(
  Flag.withDescription("A member in place of a text: the index of its event and its JSON pointer, 7:/data/reason"),
  Flag.between(0, 1_000)
)

/** The text of `--find`; one line break at the end of standard input is not part of it. */
const searched = (given: string) =>
  given === STDIN ? Effect.map(textOfStdin, (text) => text.replace(/\r?\n$/, "")) : Effect.succeed(given)

const memberOf = Effect.fnUntraced(function* (text: string) {
  const [, index, pointer] = /^(\d+):(\/.*)$/.exec(text) ?? []
  if (index === undefined || pointer === undefined) {
    return yield* usageProblem(`--member ${text} is not of the form index:/pointer, as 7:/data/reason`)
  }
  return { target: "event" as const, index: Number(index), pointer }
})

const step = (given: Option.Option<string>) =>
  Option.match(given, { onNone: () => ({ dryRun: true }), onSome: (plan) => ({ dryRun: false, plan }) })

/** How many, and what: "1 member", "3 members". */
const countText = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`

const positionText = ({ id, index, of, pointer }: RemainingText): string =>
  [of, index === undefined ? id : String(index), pointer].filter((part) => part !== undefined).join(" ")

/** What follows a dry run: a text that was not found is not erased either. */
export const nextStep = ({ members, remaining, rows }: Pick<Erasure, "members" | "remaining" | "rows">): string => {
  if (members > 0 || rows.some(({ count }) => count > 0)) {
    return "Nothing was erased. Repeat the command with --plan and this plan to erase it."
  }
  return remaining > 0
    ? "Nothing can be erased: the text is only in the positions that remain."
    : "The run does not have the text: there is nothing to erase."
}

const printErasure = (erasure: Erasure) =>
  Effect.gen(function* () {
    const { dryRun, members, notReached, pending, plan, remaining, remains, rows } = erasure
    yield* printFacts(
      [
        [dryRun ? "Would erase" : "Erased", countText(members, "member")],
        ["Beside the log", rows.map(({ count, of }) => countText(count, of)).join(", ")],
        ["Remains", countText(remaining, "position")],
        ["Pending", pending === null ? "" : `files of the archive: ${pending.until}`],
        ["Plan", dryRun ? plan : ""]
      ],
      erasure
    )
    if ((yield* output).format !== "text") return
    for (const remain of remains) yield* Console.log(`  ${positionText(remain)}: ${remain.why}`)
    yield* Console.log("Not reached:")
    for (const copy of notReached) yield* Console.log(`  ${copy}`)
    if (dryRun) yield* Console.log(nextStep(erasure))
  })

const printJob = (job: ErasureJob) =>
  Effect.gen(function* () {
    const { done, dryRun, erased, id, leftOut, matching, members, pendingFiles, plan, remaining, runs, state } = job
    yield* printFacts(
      [
        ["Erasure", id],
        ["State", `${state}, ${done} of ${countText(runs, "run")}`],
        ["Has the text", countText(matching, "run")],
        ["Erased from", dryRun ? "none: it is a dry run" : countText(erased, "run")],
        [dryRun ? "Would erase" : "Erased", countText(members, "member")],
        ["Remains", countText(remaining, "position")],
        ["Left out", countText(leftOut, "run")],
        ["Pending", pendingFiles === 0 ? "" : `files of the archive have ${countText(pendingFiles, "run")}`],
        ["Plan", plan],
        ["Progress", state === "done" ? "" : `runplane erase show ${id}`]
      ],
      job
    )
    if ((yield* output).format !== "text") return
    for (const { runId, why } of job.runsLeftOut) yield* Console.log(`  ${runId}: ${why}`)
    if (state !== "done") return
    yield* Console.log("Not reached:")
    for (const copy of job.notReached) yield* Console.log(`  ${copy}`)
  })

const run = Command.make(
  "run",
  {
    run: Argument.String("run").pipe(Argument.withDescription("Id of the run, or of its session")),
    find: Flag.optional(find),
    member,
    reason,
    plan
  },
  ({ find, member, plan, reason, run }) =>
    withControlPlane(({ api }) =>
      Effect.gen(function* () {
        if (Option.isSome(find) === member.length > 0) return yield* usageProblem("give either --find or --member")
        const members = yield* Effect.forEach(member, memberOf)
        const what = Option.isSome(find) ? { find: yield* searched(find.value) } : { members }
        yield* printErasure(
          yield* api.erasures.erase({ params: { id: run }, payload: { ...what, reason, ...step(plan) } })
        )
      })
    )
).pipe(Command.withDescription("Erase a text, or single members, from a run; a dry run first"))

const runs = Command.make(
  "runs",
  {
    find,
    query: Flag.String("query").pipe(Flag.withDescription("Search over runs; all runs without it"), Flag.optional),
    reason,
    plan
  },
  ({ find, plan, query, reason }) =>
    withControlPlane(({ api }) =>
      Effect.gen(function* () {
        const text = yield* searched(find)
        const among = Option.isSome(query) ? { query: query.value } : {}
        yield* printJob(yield* api.erasures.eraseFromRuns({ payload: { find: text, ...among, reason, ...step(plan) } }))
      })
    )
).pipe(Command.withDescription("Erase a text from many runs, as a job; a dry run first"))

const people = Command.make(
  "people",
  {
    session: Argument.String("session").pipe(Argument.withDescription("Id of the session, which has to be over")),
    reason
  },
  ({ reason, session }) =>
    withLauncher((launcher) =>
      Effect.gen(function* () {
        const erased = yield* launcher.people.erase({ payload: { sessionId: session, reason } })
        const { answers, items, nonces, questions, records, returns } = erased
        yield* printFacts(
          [
            [
              "Erased",
              items === 0 ? "nothing: the session was erased before, or had no question" : countText(items, "question")
            ],
            ["Answers", String(answers)],
            ["Nonces", String(nonces)],
            ["Records", String(records)],
            ["Returns", String(returns)],
            ["Questions", String(questions)]
          ],
          erased
        )
      })
    )
).pipe(Command.withDescription("Erase the texts of questions and answers of a session from the launch service"))

const show = Command.make(
  "show",
  { id: Argument.String("id").pipe(Argument.withDescription("Id of the erasure")) },
  ({ id }) => withControlPlane(({ api }) => Effect.flatMap(api.erasures.get({ params: { id } }), printJob))
).pipe(Command.withDescription("Show the progress of an erasure over many runs"))

const list = Command.make("list", {}, () =>
  withControlPlane(({ api }) =>
    Effect.gen(function* () {
      const page = yield* api.erasures.list()
      yield* printRows(
        [
          { title: "ERASURE", text: ({ id }) => id },
          { title: "STATE", text: ({ state }) => state },
          { title: "DRY RUN", text: ({ dryRun }) => (dryRun ? "yes" : "no") },
          { title: "RUNS", text: ({ done, runs }) => `${done}/${runs}` },
          { title: "REASON", text: ({ reason }) => reason, elastic: true }
        ],
        page.data,
        page
      )
    })
  )
).pipe(Command.withDescription("List the erasures over many runs, the newest first"))

/** `runplane erase ...` */
export const erase = Command.make("erase").pipe(
  Command.withDescription("Erase texts from runs whose seals stay valid"),
  Command.withSubcommands([run, runs, people, show, list])
)
