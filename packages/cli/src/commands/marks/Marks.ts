import { type ControlPlaneCalls, MAX_MARK_PAGE, type MarkAgreement, type MarkPair, pairWithPeople } from "@runplane/api"
import {
  agreementText,
  CORRECT,
  GivenMarkSource,
  groupText,
  type Mark,
  type MarkDefinition,
  type MarkTarget,
  MarkTargetKind,
  type MarkValue
} from "@runplane/domain"
import * as Console from "effect/Console"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { withControlPlane } from "../../Connection.ts"
import { output, printDone, printFacts, printRows } from "../../Output.ts"

const run = Argument.String("run").pipe(Argument.withDescription("Id of the run, or of its session"))

/** `true` and `false` are flags, a decimal number is a number, every other text is a category. */
const markValue = (text: string): MarkValue => {
  if (text === "true" || text === "false") return text === "true"
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text
}

const targetText = ({ id, kind }: MarkTarget): string => (id === undefined ? kind : `${kind} ${id}`)

const add = Command.make(
  "add",
  {
    run,
    name: Argument.String("name").pipe(
      Argument.withDescription("Name of the mark; `correct` is the truth, `marks definitions` lists the defined ones")
    ),
    value: Argument.String("value").pipe(
      Argument.withDescription(
        "A number, true, false, or the text of a category; for `correct` also the action that would have been right"
      )
    ),
    on: Flag.Literals("on", MarkTargetKind.literals).pipe(
      Flag.withDescription("What it judges; the run unless given, and the decision for `correct`"),
      Flag.optional
    ),
    target: Flag.String("target").pipe(
      Flag.withDescription("Id of the participant or event; without it a decision is the last one"),
      Flag.optional
    ),
    comment: Flag.String("comment").pipe(Flag.withDescription("The reason"), Flag.optional),
    source: Flag.Literals("source", GivenMarkSource.literals).pipe(
      Flag.withDescription("Kind of the author"),
      Flag.withDefault("human" as const)
    ),
    judge: Flag.String("judge").pipe(Flag.withDescription("Name of the judge; its source is `judge`"), Flag.optional),
    key: Flag.String("key").pipe(
      Flag.withDescription("A repeated key of one run returns the first mark"),
      Flag.optional
    )
  },
  ({ comment, judge, key, name, on, run, source, target, value }) =>
    withControlPlane(({ api }) =>
      Effect.gen(function* () {
        const mark = yield* api.marks.add({
          params: { id: run },
          payload: {
            target: {
              kind: Option.getOrElse(on, () => (name === CORRECT ? "decision" : "run")),
              ...(Option.isSome(target) && { id: target.value })
            },
            name,
            value: markValue(value),
            source: Option.isSome(judge) ? "judge" : source,
            ...(Option.isSome(comment) && { comment: comment.value }),
            ...(Option.isSome(judge) && { judge: { name: judge.value } }),
            ...(Option.isSome(key) && { idempotencyKey: key.value })
          }
        })
        yield* printFacts(
          [
            ["Mark", mark.id],
            ["Name", mark.name],
            ["Value", String(mark.value)],
            ["Of", targetText(mark.target)],
            ["Author", mark.authorName ?? mark.author]
          ],
          mark
        )
      })
    )
).pipe(Command.withDescription("Add a mark to a run"))

/**
 * The agreement of the judge of each mark with people (docs/reference/marks.md#agreement), read for a table only. A
 * name whose agreement cannot be read has none.
 */
const agreementsOf = Effect.fnUntraced(function* (api: ControlPlaneCalls, marks: ReadonlyArray<Mark>) {
  const { format } = yield* output
  const judged = format === "text" ? marks.filter(({ source }) => source === "judge") : []
  const names = [...new Set(judged.map(({ name }) => name))]
  const read = (name: string) =>
    Effect.option(api.markReports.agreement({ query: { name, sources: ["human", "judge"] } }))
  const found = yield* Effect.forEach(names, read, { concurrency: 4 })
  const agreements = new Map(
    found.flatMap((one) => (Option.isSome(one) ? one.value.data.map((each) => [each.name, each] as const) : []))
  )
  return ({ judge, name }: Mark) => (judge === undefined ? undefined : pairWithPeople(agreements.get(name), judge.name))
})

/** The agreement of a judge with people; empty for other marks than those of judges. */
const agreesText = (pair: MarkPair | undefined): string => (pair === undefined ? "" : agreementText(pair))

const list = Command.make(
  "list",
  {
    run,
    name: Flag.String("name").pipe(Flag.withDescription("Only marks of this name"), Flag.optional),
    history: Flag.Boolean("history").pipe(
      Flag.withDescription("Replaced and deleted marks as well"),
      Flag.withDefault(false)
    ),
    limit: Flag.Int("limit").pipe(Flag.withDescription(`Most marks, 1 to ${MAX_MARK_PAGE}`), Flag.withDefault(100))
  },
  ({ history, limit, name, run }) =>
    withControlPlane(({ api }) =>
      Effect.gen(function* () {
        const page = yield* api.marks.list({
          params: { id: run },
          query: { history, limit, offset: 0, ...(Option.isSome(name) && { name: name.value }) }
        })
        const pairOf = yield* agreementsOf(api, page.data)
        yield* printRows(
          [
            { title: "MARK", text: ({ id }) => id },
            { title: "NAME", text: ({ name }) => name },
            { title: "VALUE", text: ({ value }) => (value === undefined ? "" : String(value)) },
            { title: "OF", text: ({ target }) => targetText(target) },
            { title: "BY", text: ({ author, authorName, judge }) => judge?.name ?? authorName ?? author },
            { title: "AGREES", text: (mark) => agreesText(pairOf(mark)) },
            { title: "COMMENT", text: ({ comment }) => comment ?? "", elastic: true }
          ],
          page.data,
          page
        )
      })
    )
).pipe(Command.withDescription("List the marks of a run, the newest first"))

const remove = Command.make(
  "delete",
  {
    run,
    mark: Argument.String("mark").pipe(Argument.withDescription("Id of the mark")),
    restore: Flag.Boolean("restore").pipe(
      Flag.withDescription("Make the mark that it replaced current again"),
      Flag.withDefault(false)
    )
  },
  ({ mark, restore, run }) =>
    Effect.gen(function* () {
      yield* withControlPlane(({ api }) => api.marks.remove({ params: { id: run, markId: mark }, query: { restore } }))
      yield* printDone(`mark ${mark} is deleted`, { deleted: mark })
    })
).pipe(Command.withDescription("Erase the value, comment and judge of a mark"))

/** Two raters of a name, or all of them together. */
type AgreementRow = { readonly name: string } & (
  | { readonly pair: MarkPair }
  | { readonly alpha: NonNullable<MarkAgreement["alpha"]> }
)

const agreement = Command.make(
  "agreement",
  {
    name: Flag.String("name").pipe(Flag.withDescription("Only marks of this name"), Flag.optional),
    sources: Flag.String("sources").pipe(
      Flag.withDescription("Two of human, judge, rule, api; the same one twice compares its raters with each other"),
      Flag.withDefault("human,judge")
    ),
    query: Flag.String("query").pipe(Flag.withDescription("Only marks on runs that this search finds"), Flag.optional)
  },
  ({ name, query, sources }) =>
    withControlPlane(({ api }) =>
      Effect.gen(function* () {
        const found = yield* api.markReports.agreement({
          query: {
            sources: sources.split(","),
            ...(Option.isSome(name) && { name: name.value }),
            ...(Option.isSome(query) && { q: query.value })
          }
        })
        const rows = found.data.flatMap(
          ({ alpha, name, pairs }): ReadonlyArray<AgreementRow> => [
            ...pairs.map((pair) => ({ name, pair })),
            ...(alpha === undefined ? [] : [{ name, alpha }])
          ]
        )
        yield* printRows(
          [
            { title: "NAME", text: ({ name }) => name },
            { title: "RATERS", text: (row) => ("pair" in row ? `${row.pair.left}, ${row.pair.right}` : "all") },
            {
              title: "AGREEMENT",
              text: (row) => ("pair" in row ? agreementText(row.pair) : groupText(row.alpha)),
              elastic: true
            }
          ],
          rows,
          found
        )
        const { format } = yield* output
        if (format === "text" && found.truncated)
          yield* Console.log("Of the latest marks and the largest pairs; there are more.")
      })
    )
).pipe(Command.withDescription("Show how far raters of the same targets agree"))

/** The values of a definition: `0 to 1`, `true, false`, or its categories. */
const valuesText = ({ categories = [], kind, max, min }: MarkDefinition): string => {
  if (kind === "number") return min === undefined && max === undefined ? "" : `${min ?? ""} to ${max ?? ""}`
  return kind === "flag" ? "true, false" : categories.join(", ")
}

const definitions = Command.make("definitions", {}, () =>
  withControlPlane(({ api }) =>
    Effect.gen(function* () {
      const found = yield* api.marks.definitions()
      yield* printRows(
        [
          { title: "NAME", text: ({ name }) => name },
          { title: "KIND", text: ({ kind }) => kind },
          { title: "VALUES", text: valuesText },
          { title: "BETTER", text: ({ better }) => better ?? "" },
          { title: "DESCRIPTION", text: ({ description }) => description ?? "", elastic: true }
        ],
        found
      )
    })
  )
).pipe(Command.withDescription("List the names that have a definition: their values, and which are better"))

/** `runplane marks ...` */
export const marks = Command.make("marks").pipe(
  Command.withDescription("Judgements of runs by people, judges, rules and other systems"),
  Command.withSubcommands([add, list, remove, definitions, agreement])
)
