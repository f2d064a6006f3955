import { createInterface } from "node:readline/promises"
import {
  type AnswerRequest,
  followInbox,
  type InboxChange,
  type InboxItem,
  type InboxStreamFailure,
  MAX_INBOX_PAGE,
  rootCauseOf
} from "@runplane/api"
import { AnswerAct, ItemState, unreachedPersons, visibleText } from "@runplane/domain"
import * as Console from "effect/Console"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { failed, usageProblem } from "../../CliFailure.ts"
import { withLauncher } from "../../Connection.ts"
import { output, printDone, printFacts, printRows } from "../../Output.ts"
import { delegate, delegations, revoke } from "./Delegations.ts"
import { hashFault, TYPED_SIGNS } from "./ProposalCheck.ts"

const item = Argument.String("item").pipe(Argument.withDescription("Id of the item, from `inbox list`"))

const list = Command.make(
  "list",
  {
    state: Flag.Literals("state", ItemState.literals).pipe(
      Flag.withDescription("Only items in this state; open unless given, and more than once for several"),
      Flag.between(0, ItemState.literals.length)
    ),
    seat: Flag.String("seat").pipe(Flag.withDescription("Only items of seats with this id"), Flag.optional),
    all: Flag.Boolean("all").pipe(
      Flag.withDescription("Those of all people, for viewers, operators and administrators"),
      Flag.withDefault(false)
    ),
    limit: Flag.Int("limit").pipe(Flag.withDescription("Most items of the page"), Flag.withDefault(50)),
    cursor: Flag.String("cursor").pipe(
      Flag.withDescription("nextCursor of the page before, from --json"),
      Flag.optional
    )
  },
  ({ all, cursor, limit, seat, state }) =>
    withLauncher(({ inbox }) =>
      Effect.gen(function* () {
        const page = yield* inbox.list({
          query: {
            limit,
            scope: all ? "all" : "own",
            ...(state.length > 0 && { state }),
            ...(Option.isSome(seat) && { seat: seat.value }),
            ...(Option.isSome(cursor) && { cursor: cursor.value })
          }
        })
        yield* printRows(
          [
            { title: "ITEM", text: ({ id }) => id },
            { title: "STATE", text: ({ state }) => state },
            { title: "SEAT", text: ({ seat }) => seat },
            { title: "UNTIL", text: ({ deadlineAt }) => deadlineAt ?? "" },
            { title: "SCENARIO", text: ({ scenarioRef }) => scenarioRef, dropped: 1 },
            { title: "QUESTION", text: ({ title }) => title ?? "", elastic: true }
          ],
          page.data,
          page
        )
      })
    )
).pipe(Command.withDescription("List the questions to the caller"))

const giverText = ({ by, onBehalfOf, proof }: NonNullable<InboxItem["given"]>): string =>
  `${by ?? "the deadline"}${onBehalfOf === undefined ? "" : ` on behalf of ${onBehalfOf}`}` +
  (proof === "link" ? ", by a personal link, the weakest proof," : "")

/** The question with what an answer rests on, for a person. */
const printItem = Effect.fnUntraced(function* (shown: InboxItem) {
  const { basis, closedActs, consequences = [], given, mayNotBecause, messages, payload, policy, unavailable } = shown
  const decoded = Object.entries(payload.decoded ?? {}).map(([name, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value)
    return [name, text] as const
  })
  yield* printFacts(
    [
      ["Item", `${shown.id}, ${shown.state}`],
      ["Because", shown.reason],
      ["Seat", `${shown.seat} of ${shown.scenarioRef}`],
      ["Run", shown.run?.page ?? shown.sessionId],
      ["Until", shown.deadlineAt ?? "the end of the session"],
      [shown.hashed.subject.type, `by ${shown.hashed.subject.sender}`],
      ...decoded,
      ["Policy", [policy.version, ...policy.lines].join(" ")],
      ["Withheld", basis?.withheld.length ? `${basis.withheld.length} votes of others, until the answer` : ""],
      ["Acts", shown.acts.join(", ") || "none now"],
      ["Closed", closedActs],
      ["Not now", unavailable],
      ["Session", shown.suspension],
      ["Not you", mayNotBecause],
      ["Notices", unreachedPersons(shown.notices ?? [])],
      ["For", shown.onBehalfOf],
      ["Escalated", shown.escalations.map(({ at, to }) => `to ${to.join(", ")} at ${at}`).join("; ")],
      ["Reason", shown.reasonRule],
      ["Answer", given && `${given.content?.act ?? "withheld"} by ${giverText(given)} at ${given.at}`],
      ["Hash", shown.proposalHash]
    ],
    shown
  )
  if ((yield* output).format !== "text") return
  for (const { by, confidence, recommendation, reason, severity, type, vote } of messages) {
    const what = [type, recommendation ?? vote ?? severity, confidence].filter((part) => part !== undefined).join(" ")
    yield* Console.log(visibleText(`  ${by}: ${what}${reason === undefined ? "" : `: ${reason}`}`))
  }
  for (const { at, by, text } of shown.questions ?? []) {
    yield* Console.log(visibleText(`  question of ${by} at ${at}: ${text}`))
  }
  for (const { act, negative, positive } of consequences) {
    yield* Console.log(`  after ${act}: approval ${positive}, decline ${negative}`)
  }
})

const show = Command.make("show", { item }, ({ item: id }) =>
  withLauncher(({ inbox }) => Effect.flatMap(inbox.show({ params: { id } }), printItem))
).pipe(Command.withDescription("Show a question with everything that an answer rests on"))

/** A question after a change, in one line. */
const changeText = ({ change, item: { id, reason, seat, state, title } }: InboxChange): string => {
  const why = reason === undefined ? "" : `: ${reason}`
  return visibleText(`${change} ${id} ${state} ${seat} ${title ?? ""}${why}`)
}

const once = Flag.Boolean("once").pipe(
  Flag.withDescription("End after the questions that are open"),
  Flag.withDefault(false)
)

const watch = Command.make("watch", { once }, ({ once }) =>
  withLauncher((launcher) =>
    Effect.gen(function* () {
      const { format } = yield* output
      if (format === "json") return yield* usageProblem("a watch has no end: use --jsonl")
      const open = Effect.map(launcher.inbox.list({ query: { limit: MAX_INBOX_PAGE, scope: "own" } }), ({ data }) =>
        data.map((item): InboxChange => ({ change: "opened", item }))
      )
      const print = (change: InboxChange) =>
        Console.log(format === "text" ? changeText(change) : JSON.stringify(change))
      if (once) return yield* Effect.flatMap(open, (all) => Effect.forEach(all, print, { discard: true }))
      // A service that cannot be reached, or refuses the caller, fails here; a connection that is lost later does not.
      yield* launcher.inbox.list({ query: { limit: 1, scope: "own" } })
      const onInterruption = (failure: InboxStreamFailure) =>
        Console.error(`the connection is lost (${visibleText(rootCauseOf(failure).message)}); trying again`)
      yield* Stream.runForEach(followInbox(launcher, { onInterruption }), (frame) => {
        if (frame.event === "item") return print(frame.data)
        // Nothing was missed, or all open questions are shown again.
        return frame.event === "ready" && frame.data.continued
          ? Effect.void
          : Effect.flatMap(open, (all) => Effect.forEach(all, print, { discard: true }))
      })
    })
  )
).pipe(
  Command.withDescription(
    "Print the open questions to the caller, and then each one that opens, changes or closes, until it is interrupted"
  )
)

/** `runplane inbox ...` */
export const inbox = Command.make("inbox").pipe(
  Command.withDescription("Questions to people"),
  Command.withSubcommands([list, show, watch, delegations, delegate, revoke])
)

/** The first signs of the hash as the person types them; the flag is for programs. */
const typedSigns = Effect.fnUntraced(function* (given: Option.Option<string>) {
  if (Option.isSome(given)) return given.value
  if (process.stdin.isTTY !== true) {
    return yield* usageProblem(`give --hash with the first ${TYPED_SIGNS} signs of the hash that inbox show prints`)
  }
  return yield* Effect.acquireUseRelease(
    Effect.sync(() => createInterface({ input: process.stdin, output: process.stderr })),
    (terminal) => Effect.promise(() => terminal.question(`First ${TYPED_SIGNS} signs of the hash: `)),
    (terminal) => Effect.sync(() => terminal.close())
  )
})

const VOTES = ["approve", "reject", "abstain"] as const
const RECOMMENDATIONS = ["APPROVE", "REVIEW", "BLOCK", "REJECT"] as const
const SEVERITIES = ["low", "medium", "high", "critical"] as const

/** `runplane answer` */
export const answer = Command.make(
  "answer",
  {
    item,
    vote: Flag.Literals("vote", VOTES).pipe(Flag.withDescription("Votes on the proposal or request"), Flag.optional),
    act: Flag.Literals("act", AnswerAct.literals).pipe(
      Flag.withDescription("Another act: accept or decline a handoff, evaluate, object"),
      Flag.optional
    ),
    evaluate: Flag.Literals("evaluate", RECOMMENDATIONS).pipe(
      Flag.withDescription("Evaluates the proposal with this recommendation"),
      Flag.optional
    ),
    object: Flag.Literals("object", SEVERITIES).pipe(
      Flag.withDescription("Objects to the proposal with this severity"),
      Flag.optional
    ),
    confidence: Flag.Finite("confidence").pipe(Flag.withDescription("From 0 to 1"), Flag.optional),
    reason: Flag.String("reason").pipe(Flag.withDescription("Why; it goes into the session"), Flag.withDefault("")),
    hash: Flag.String("hash").pipe(
      Flag.withDescription(`The first ${TYPED_SIGNS} signs of the hash, in place of typing them`),
      Flag.optional
    )
  },
  ({ act, confidence, evaluate, hash, item: id, object, reason, vote }) =>
    withLauncher(({ inbox }) =>
      Effect.gen(function* () {
        const acts: ReadonlyArray<Pick<AnswerRequest, "act" | "recommendation" | "severity">> = [
          ...Option.toArray(vote).map((act) => ({ act })),
          ...Option.toArray(act).map((act) => ({ act })),
          ...Option.toArray(evaluate).map((recommendation) => ({ act: "evaluate" as const, recommendation })),
          ...Option.toArray(object).map((severity) => ({ act: "object" as const, severity }))
        ]
        const [chosen, ...others] = acts
        if (chosen === undefined || others.length > 0) {
          return yield* usageProblem("give one of --vote, --act, --evaluate and --object")
        }
        const shown = yield* inbox.show({ params: { id } })
        const fault = hashFault(shown)
        if (fault !== undefined) return yield* failed(fault)
        if (!(yield* printedAsQuestion)) yield* printItem(shown)
        const signs = yield* typedSigns(hash)
        if (signs.trim().toLowerCase() !== shown.proposalHash.slice(0, TYPED_SIGNS)) {
          return yield* usageProblem(`"${signs}" are not the first ${TYPED_SIGNS} signs of the hash: nothing was sent`)
        }
        const { basis, proposalHash } = shown
        if (basis === undefined)
          return yield* failed(`${shown.unavailable ?? "the item takes no answer"}: try again later`)
        const { given, state } = yield* inbox.answer({
          params: { id },
          headers: { "x-runplane-channel": "cli" },
          payload: {
            ...chosen,
            ...(Option.isSome(confidence) && { confidence: confidence.value }),
            reason,
            proposalHash,
            basis: { ordinal: basis.ordinal, sha256: basis.sha256 }
          }
        })
        yield* printDone(`${given.by ?? "the deadline"} answers ${chosen.act}; the item is ${state}`, {
          id,
          state,
          given
        })
      })
    )
).pipe(Command.withDescription("Answer a question, after its hash was compared"))

/** JSON has the answer alone: a program has read the question before. */
const printedAsQuestion = Effect.map(output, ({ format }) => format !== "text")
