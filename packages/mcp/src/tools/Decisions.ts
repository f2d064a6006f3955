import { type DecisionWhy, MARKDOWN_CONTENT_TYPE, OtherPolicy, type RunCard } from "@runplane/api"
import { standardMode, verdictWord } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { AcceptedForm, type Backend } from "../Backend.ts"
import { Words, words } from "../Facts.ts"
import { type Answer, defined, type JsonObject } from "../Shape.ts"
import { tool } from "../ToolSpec.ts"
import { q, runId, seq, text } from "./Inputs.ts"

const scalar = Schema.optionalKey(Schema.Json)

/** The summary, in which the names and actions of participants are quoted; all of it is quoted without its parts. */
const summaryOf = ({ summary, summaryParts }: typeof DecisionWhy.Type): Words | string =>
  summaryParts === undefined ? summary : new Words(summaryParts)

/** Voters of one answer. */
const MAX_VOTERS = 25

/** The verdict of a card, and the voters on the committed proposal, or on the first one. */
const verdictOf = ({ modeName, rings, verdict }: typeof RunCard.Type) => {
  const voters = rings[0]?.seats ?? []
  return {
    verdict: words(verdictWord(verdict, standardMode(modeName))),
    seats: voters
      .slice(0, MAX_VOTERS)
      .map(({ objection, participantId, pivotal, role, vote }) =>
        defined({ participantId, vote, role, objection, ...(pivotal && { pivotal }) })
      ),
    ...(voters.length > MAX_VOTERS && { seatsOmitted: voters.length - MAX_VOTERS })
  }
}

/** The decision record: rules and counts as facts, what was said as texts. */
const whyAnswer = (why: typeof DecisionWhy.Type, card: typeof RunCard.Type): Answer => {
  const { claims, counterfactuals, outcome, receipt, rules } = why
  const said = claims.map(({ kind, participantId, seqs, text }) => ({
    of: defined({ kind, by: participantId, seq: seqs[0] }),
    text
  }))
  return {
    facts: defined({
      runId: why.runId,
      ...verdictOf(card),
      summary: summaryOf(why),
      policy: why.policyVersion,
      policySource: why.policySource,
      outcome: outcome === null ? null : defined({ ...outcome, reason: undefined }),
      // The issuer and the reason are texts of the runtime.
      receipt: receipt && defined({ verified: receipt.verified, signed: receipt.signed, hash: receipt.hash }),
      warnings: why.warnings,
      tallies: why.tallies?.map(({ option: _, ...tally }) => json(tally)),
      counted: why.counted && json(why.counted),
      rules: rules.map(({ have, need, rule, satisfied, text }) => defined({ rule, satisfied, text, have, need })),
      minimalSet: why.minimalSet,
      without: counterfactuals.map(({ participantId, seq, stillAllowed }) => ({ participantId, seq, stillAllowed })),
      decidedAt: why.decidedAt,
      missing: why.missing,
      voting: why.voting?.map(({ text }) => text),
      cost: {
        totalTokens: why.cost.totalTokens,
        costUsd: why.cost.costUsd,
        by: why.cost.byParticipant.slice(0, 20).map((entry) => ({ ...entry }))
      },
      notes: why.notes
    }),
    said,
    rest: "run_events"
  }
}

/** The decision record as Markdown, as the service prints it for people: texts of agents stand anywhere in it. */
export const recordOf = (id: string, { plane }: Backend) =>
  plane.api.decisions.why({ params: { id } }).pipe(
    Effect.provideService(AcceptedForm, MARKDOWN_CONTENT_TYPE),
    Effect.map((record) => (typeof record === "string" ? record : JSON.stringify(record)))
  )

const decisionExplain = tool({
  name: "decision_explain",
  title: "Explain a decision",
  description:
    "Why a run was decided as it was: rules, votes that carried it, what its absence would change, cost. `record` is one " +
    "Markdown text for people. Not for open decisions (decision_forecast) or other votes (decision_what_if).",
  access: "viewer",
  input: {
    runId,
    format: Schema.optionalKey(Schema.Literals(["facts", "record"]).annotate({ description: "facts unless given" }))
  },
  output: { runId: scalar, verdict: scalar, summary: scalar, outcome: scalar },
  call: Effect.fnUntraced(function* (input, { backend }) {
    const params = { id: input.runId }
    const why = yield* backend.plane.api.decisions.why({ params })
    if (typeof why === "string") return { facts: {}, rest: "run_story" }
    if (input.format !== "record") return whyAnswer(why, yield* backend.plane.api.decisions.card({ params, query: {} }))
    const record = yield* recordOf(input.runId, backend)
    // Pieces of a text are entries, so that a long record is cut at its end and not in its first 500 characters.
    const pieces = record.match(/[\s\S]{1,480}/gu) ?? []
    return {
      facts: { runId: why.runId, summary: summaryOf(why), pieces: pieces.length },
      said: pieces.map((piece, index) => ({ of: { piece: index + 1 }, text: piece })),
      rest: "decision_explain"
    }
  })
})

const decisionForecast = tool({
  name: "decision_forecast",
  title: "Forecast a decision",
  description:
    "Which outcomes are met, certain, possible or impossible, what blocks them, and the fewest acts that would allow them. " +
    "Not for why a finished run was decided so (decision_explain).",
  access: "viewer",
  input: { runId, atSeq: seq("As if the log ended with this event") },
  output: { runId: scalar, outcomes: scalar },
  call: Effect.fnUntraced(function* (input, { backend: { plane } }) {
    const query = input.atSeq === undefined ? {} : { atSeq: input.atSeq }
    const forecast = yield* plane.api.decisions.forecast({ params: { id: input.runId }, query })
    return { facts: json(forecast), rest: "run_events" }
  })
})

/** An answer of the API as plain JSON. */
export const json = (value: object): JsonObject => {
  const plain: JsonObject = JSON.parse(JSON.stringify(value))
  return plain
}

const decisionWhatIf = tool({
  name: "decision_what_if",
  title: "Evaluate a run under other rules or votes",
  description:
    "What the rules would have said with another policy, other votes, or without some participants. Nothing is written. Not " +
    "for many runs at once (policy_backtest).",
  access: "viewer",
  input: {
    runId,
    policyVersion: Schema.optionalKey(text("A registered policy in place of the run's")),
    policy: Schema.optionalKey(OtherPolicy),
    votes: Schema.optionalKey(
      Schema.Array(
        Schema.Struct({
          participantId: text("Participant"),
          proposalId: Schema.optionalKey(text("Proposal, where several were voted on")),
          vote: Schema.Literals(["APPROVE", "REJECT", "ABSTAIN"])
        })
      ).check(Schema.isMaxLength(100))
    ),
    without: Schema.optionalKey(Schema.Array(text("Participant")).check(Schema.isMaxLength(100)))
  },
  output: { changed: scalar, before: scalar, after: scalar },
  call: Effect.fnUntraced(function* ({ runId, ...payload }, { backend: { plane } }) {
    return {
      facts: json(yield* plane.api.decisions.whatIf({ params: { id: runId }, payload })),
      rest: "decision_explain"
    }
  })
})

const runsCompare = tool({
  name: "runs_compare",
  title: "Compare two runs",
  description:
    "Status, duration and participants of two runs side by side, and the first step at which they differ, with what " +
    "followed. Not for more than two runs (stability).",
  access: "viewer",
  input: { left: runId, right: runId },
  output: { left: scalar, right: scalar, divergence: scalar },
  call: Effect.fnUntraced(function* (input, { backend: { plane } }) {
    const { divergence, left, right, ...rest } = yield* plane.api.compare.compare({
      payload: { leftRunId: input.left, rightRunId: input.right }
    })
    const step =
      divergence === null ? null : { ...divergence, leftText: undefined, rightText: undefined, what: undefined }
    const texts = [
      { side: "left", text: divergence?.leftText ?? "" },
      { side: "right", text: divergence?.rightText ?? "" },
      { side: "both", text: divergence?.what ?? "" }
    ]
    return {
      facts: json({ left, right, ...rest, divergence: step }),
      said: texts.filter(({ text }) => text !== "").map(({ side, text }) => ({ of: { side }, text })),
      rest: "run_story"
    }
  })
})

const stability = tool({
  name: "stability",
  title: "How stable decisions are",
  description:
    "Outcomes of the latest 1,000 matching runs, their agreement with its interval, and where the others parted. Give q or " +
    "scenarioRef. Not for two runs (runs_compare).",
  access: "viewer",
  input: {
    q,
    scenarioRef: Schema.optionalKey(text("Runs of this scenario, such as incident/region-failover@1.0.0")),
    since: Schema.optionalKey(text("Runs created since this time, ISO 8601"))
  },
  output: { n: scalar, outcomes: scalar, agreement: scalar },
  call: Effect.fnUntraced(function* (input, { backend: { plane } }) {
    const scenario = input.scenarioRef === undefined ? [] : [`scenario:${JSON.stringify(input.scenarioRef)}`]
    const search = [...(input.q === undefined ? [] : [`(${input.q})`]), ...scenario].join(" ")
    const answer = yield* plane.api.decisions.stability({
      query: {
        count: "decided",
        ...(search !== "" && { q: search }),
        ...(input.since !== undefined && { since: input.since })
      }
    })
    const { flips, ...figures } = answer
    return {
      facts: json({ ...figures, flips: flips.slice(0, 10).map(({ text: _, ...flip }) => flip) }),
      said: flips.slice(0, 10).map(({ exampleRight, text }) => ({ of: { runId: exampleRight }, text })),
      rest: "runs_compare"
    }
  })
})

export const decisionTools = [decisionExplain, decisionForecast, decisionWhatIf, runsCompare, stability]
