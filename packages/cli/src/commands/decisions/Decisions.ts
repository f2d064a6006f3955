import type { DecisionForecast, DecisionWhy, RunCard, WhatIfAnswer, WhatIfRequest } from "@runplane/api"
import { costText, receiptText, shownTallies, voterLines } from "@runplane/domain"
import * as Console from "effect/Console"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { usageProblem } from "../../CliFailure.ts"
import { withControlPlane } from "../../Connection.ts"
import { row } from "../../narrative/Narrative.ts"
import { amongCommitments, lacking } from "../../narrative/Outcome.ts"
import { plainText } from "../../narrative/PlainText.ts"
import { output, printedAsJson } from "../../Output.ts"
import { policyFlags, readPolicyFlags } from "./PolicyFlags.ts"

const run = Argument.String("run").pipe(Argument.withDescription("Id of the run, or of its session"))

/** Prints sections of lines under their headings; empty ones are left out. */
const printSections = (sections: ReadonlyArray<readonly [string, ReadonlyArray<string>]>) =>
  Effect.gen(function* () {
    const { style } = yield* output
    for (const [title, lines] of sections) {
      if (lines.length === 0) continue
      yield* Console.log([`\n${style.bold(title)}`, ...lines.map((line) => `  ${plainText(line)}`)].join("\n"))
    }
  })

const printRows = (rows: ReadonlyArray<readonly [string, string]>) =>
  Console.log(rows.map(([heading, text]) => row(heading, plainText(text))).join("\n"))

const why = Command.make("why", { run }, ({ run }) =>
  withControlPlane(({ api }) =>
    Effect.gen(function* () {
      const answer = yield* api.decisions.why({ params: { id: run } })
      // The client requests JSON; the other forms are texts.
      if (typeof answer === "string") return yield* Console.log(answer)
      if (yield* printedAsJson(answer)) return
      yield* printWhy(answer, yield* api.decisions.card({ params: { id: run }, query: {} }))
    })
  )
).pipe(Command.withDescription("Show why a run was decided as it was, or what was missing"))

const printWhy = Effect.fnUntraced(function* (answer: typeof DecisionWhy.Type, card: typeof RunCard.Type) {
  const { claims, cost, counterfactuals, decidedAt, missing, notes, outcome, policySource, policyVersion } = answer
  const { receipt, rules, summary, voting = [], warnings = [] } = answer
  const stated = outcome?.positive === true ? ", positive" : outcome?.positive === false ? ", negative" : ""
  const verdict = outcome?.againstVotes === true ? `${stated}, against its votes` : stated
  yield* printRows([
    ["Run", answer.runId],
    ["Verdict", `${card.word}; ${card.counts}`],
    [
      "Decision",
      outcome === null
        ? "none"
        : `${outcome.action}${verdict}, by ${outcome.by || "an unknown sender"}${amongCommitments(outcome.commitments)}`
    ],
    ...(outcome?.reason === undefined ? [] : [["Because", outcome.reason] as const]),
    ...(outcome?.commitmentHash === undefined ? [] : [["Hash", outcome.commitmentHash] as const]),
    ...(receipt === undefined ? [] : [["Receipt", receiptText(receipt)] as const]),
    ["Why", summary],
    ...warnings.map((text) => ["Warning", text] as const),
    ...[...shownTallies(answer), ...voting].map(({ text }) => ["Votes", text] as const),
    ...(decidedAt === undefined
      ? []
      : [["Settled", `${(decidedAt.msBeforeCommitment / 1_000).toFixed(1)} s before the commitment`] as const]),
    ["Policy", `${policyVersion || "unknown"} (${policySource})`],
    ["Cost", `${cost.totalTokens} tokens, ${costText(cost.costUsd, cost.guessedCostUsd)}${lacking(cost)}`]
  ])
  yield* printSections([
    ["Participants", voterLines(card)],
    [
      "People",
      claims.flatMap(({ person, text, unanswered }) => (person === undefined && unanswered !== true ? [] : [text]))
    ],
    ["Refused by the policy", claims.flatMap(({ kind, text }) => (kind === "denial" ? [text] : []))],
    ["What was missing", missing],
    ["Rules", rules.map(({ rule, satisfied, text }) => `${satisfied ? "met" : "not met"}: ${text} (${rule})`)],
    ["Without one vote", counterfactuals.map(({ reasons, text }) => [text, ...reasons].join("; "))],
    ["Notes", notes]
  ])
})

const forecast = Command.make(
  "forecast",
  {
    run,
    atSeq: Flag.Int("at-seq").pipe(Flag.withDescription("As if the log ended with this event"), Flag.optional)
  },
  ({ atSeq, run }) =>
    withControlPlane(({ api }) =>
      Effect.gen(function* () {
        const query = Option.isSome(atSeq) ? { atSeq: atSeq.value } : {}
        const answer = yield* api.decisions.forecast({ params: { id: run }, query })
        if (yield* printedAsJson(answer)) return
        yield* printForecast(answer)
      })
    )
).pipe(Command.withDescription("Show which outcomes of a decision are still possible"))

const printForecast = Effect.fnUntraced(function* (answer: typeof DecisionForecast.Type) {
  const {
    atIndex,
    atSeq,
    basis,
    note,
    outcomes,
    outstanding,
    pivotal,
    policySource,
    policyVersion,
    runId,
    waitingFor
  } = answer
  yield* printRows([
    ["Run", `${runId}, at event ${atIndex} (seq ${atSeq})`],
    ["Policy", `${policyVersion || "unknown"} (${policySource})`],
    ...outcomes.map(({ outcome, proposalId, settled, status }) => {
      const about = proposalId === undefined ? "" : ` on ${proposalId}`
      return [
        `${outcome.charAt(0).toUpperCase()}${outcome.slice(1)}`,
        `${status}${about}${settled ? ", settled" : ""}`
      ] as const
    }),
    ...(waitingFor === undefined ? [] : [["Waits for", waitingFor] as const]),
    ...(note === undefined ? [] : [["Note", note] as const]),
    ...(basis === "exact" ? [] : [["Basis", "bounds: too many votes are open to try every set"] as const])
  ])
  const of = (one: (typeof outcomes)[number]) =>
    one.proposalId === undefined ? `a ${one.outcome} outcome` : `a ${one.outcome} outcome on ${one.proposalId}`
  yield* printSections([
    ["What prevents it", outcomes.flatMap((one) => one.blockers.map(({ text }) => `${of(one)}: ${text}`))],
    ["What would be enough", outcomes.flatMap((one) => one.needs.map(({ text }) => `${of(one)}: ${text}`))],
    ["Still open", outstanding.map(({ acts, participantId }) => `${participantId}: ${acts.join(", ")}`)],
    ["Decides alone", decisive(pivotal)]
  ])
})

/** Acts with the same consequence on one line: "a, b with Vote APPROVE: positive is then met". */
const decisive = (pivotal: (typeof DecisionForecast.Type)["pivotal"]): ReadonlyArray<string> => {
  const byConsequence = new Map<string, Array<string>>()
  for (const { act, becomes, outcome, participantId, value } of pivotal) {
    const text = `${act}${value === undefined ? "" : ` ${value}`}: ${outcome} is then ${becomes}`
    byConsequence.set(text, [...(byConsequence.get(text) ?? []), participantId])
  }
  return Array.from(byConsequence, ([text, participants]) => `${participants.join(", ")} with ${text}`)
}

const VOTE = /^(.+)=(APPROVE|REJECT|ABSTAIN)(?:@(.+))?$/i

/** `participant=VOTE`, or `participant=VOTE@proposal`. */
export const parseVote = (text: string): NonNullable<typeof WhatIfRequest.Type.votes>[number] | undefined => {
  const [, participantId, word = "", proposalId] = VOTE.exec(text) ?? []
  const vote = (["APPROVE", "REJECT", "ABSTAIN"] as const).find((one) => one === word.toUpperCase())
  if (participantId === undefined || vote === undefined) return undefined
  return { participantId, vote, ...(proposalId !== undefined && { proposalId }) }
}

const whatIf = Command.make(
  "what-if",
  {
    run,
    ...policyFlags,
    votes: Flag.String("vote").pipe(
      Flag.withDescription("A vote as PARTICIPANT=APPROVE, REJECT or ABSTAIN, with @PROPOSAL when there are several"),
      Flag.atLeast(0)
    ),
    without: Flag.String("without").pipe(
      Flag.withDescription("As if this participant had said nothing; may be repeated"),
      Flag.atLeast(0)
    )
  },
  ({ policy, policyVersion, run, votes, without }) =>
    Effect.gen(function* () {
      const change = yield* readPolicyFlags({ policy, policyVersion })
      const changed = yield* Effect.forEach(votes, (text) => {
        const vote = parseVote(text)
        return vote === undefined
          ? usageProblem(`--vote "${text}" is not PARTICIPANT=APPROVE, PARTICIPANT=REJECT or PARTICIPANT=ABSTAIN`)
          : Effect.succeed(vote)
      })
      const payload = {
        ...change,
        ...(changed.length > 0 && { votes: changed }),
        ...(without.length > 0 && { without })
      }
      yield* withControlPlane(({ api }) =>
        Effect.gen(function* () {
          const answer = yield* api.decisions.whatIf({ params: { id: run }, payload })
          if (yield* printedAsJson(answer)) return
          yield* printWhatIf(answer)
        })
      )
    })
).pipe(Command.withDescription("Show the outcome of a run under other rules or votes"))

const printWhatIf = Effect.fnUntraced(function* (answer: typeof WhatIfAnswer.Type) {
  const { after, basis, before, changed, notes, pivotal, smallestChange } = answer
  const verdict = (one: typeof before) =>
    `${one.outcome} ${one.allowed ? "allowed" : `refused: ${one.reasons.join("; ")}`}`
  yield* printRows([
    ["Before", verdict(before)],
    ["After", verdict(after)],
    ["Changed", changed ? "yes" : "no"]
  ])
  const said = ({ from, participantId, proposalId, to }: (typeof pivotal)[number]) =>
    `${participantId} on ${proposalId}: ${to} instead of ${from ?? "nothing"}`
  yield* printSections([
    [`Fewest votes that would turn it${basis === "exact" ? "" : " (fewer may be enough)"}`, smallestChange.map(said)],
    ["Each alone would turn it", pivotal.map(said)],
    ["Notes", notes]
  ])
})

/** What `runplane runs` says about decisions (docs/reference/decisions.md). */
export const decisionCommands = [why, forecast, whatIf] as const
