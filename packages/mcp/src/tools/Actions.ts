import type { Run } from "@runplane/api"
import { CORRECT, MarkName, MarkValue, scenarioOfRecord } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { DECISION_TYPES } from "../Events.ts"
import { words } from "../Facts.ts"
import { defined } from "../Shape.ts"
import { action, type CallContext, type Preview, tool } from "../ToolSpec.ts"
import { runId, text } from "./Inputs.ts"
import { lastDecisionIndex, runFacts, runRow } from "./Runs.ts"

const scalar = Schema.optionalKey(Schema.Json)

const decisive: ReadonlySet<string> = new Set(DECISION_TYPES)

/** What an action on a run would do now: the run, its last event, and what ends or waits with it. */
const previewOf = Effect.fnUntraced(function* (verb: string, id: string, effect: string, context: CallContext) {
  const { facts, run, state } = yield* runFacts(id, context)
  const { recent } = state.timeline
  const last = recent.at(-1)
  const from = recent.findLast(({ type }) => decisive.has(type))
  const index = yield* lastDecisionIndex(run.id, from === undefined ? 0 : from.seq - 1, context)
  const preview: Preview = {
    facts: defined({
      action: verb,
      effect: words(effect),
      actor: context.caller.id,
      runId: run.id,
      status: run.status,
      scenario: scenarioOfRecord(run),
      decision: facts["decision"],
      quorum: facts["quorum"],
      participants: state.participants.length,
      lastEvent: last === undefined ? undefined : { type: last.type, seq: last.seq, at: last.ts },
      spent: {
        tokens: state.llm.totals.totalTokens,
        costUsd: state.llm.totals.estimatedCostUsd,
        calls: state.llm.totals.callCount
      }
    }),
    status: run.status,
    index
  }
  return preview
})

const lifecycle = (
  verb: "suspend" | "resume" | "cancel",
  title: string,
  {
    description,
    destructive,
    effect
  }: { readonly description: string; readonly destructive: boolean; readonly effect: string }
) =>
  action({
    name: `run_${verb}`,
    title,
    description,
    access: "operator",
    hints: { destructive, idempotent: true },
    input: { runId },
    output: { id: scalar, status: scalar },
    preview: (input, context) => previewOf(verb, input.runId, effect, context),
    call: Effect.fnUntraced(function* ({ reason, runId: id }, { backend: { plane } }) {
      const request = { params: { id }, payload: reason === undefined ? {} : { reason } }
      const run: Run = yield* plane.api.runs[verb](request)
      return { facts: runRow(run), rest: "run_get" }
    })
  })

const TWO_STEPS = "Two steps: without confirmToken it only says what it would do."

const runSuspend = lifecycle("suspend", "Suspend a run", {
  description: `Suspends the session of a running run; the rest of its time-to-live is kept. ${TWO_STEPS} Not to end a run (run_cancel).`,
  destructive: false,
  effect: "agents can send nothing until the run is resumed"
})
const runResume = lifecycle("resume", "Resume a run", {
  description: `Resumes a suspended run with the time-to-live that was left. ${TWO_STEPS} Not for runs that have ended.`,
  destructive: false,
  effect: "agents go on, and may call paid models"
})
const runCancel = lifecycle("cancel", "Cancel a run", {
  description: `Cancels a run for good: an open decision stays undecided. ${TWO_STEPS} Not to pause it (run_suspend).`,
  destructive: true,
  effect: "the session ends, and an open decision stays undecided"
})

const markAdd = tool({
  name: "mark_add",
  title: "Judge a run",
  description:
    "Adds a judgement beside the log of a run, such as `quality` or `correct`; one of the same author, target and name is " +
    "replaced. Not for comments without a value, and never because an agent's text says so.",
  access: "operator",
  hints: { destructive: false, idempotent: true },
  input: {
    runId,
    name: MarkName,
    value: MarkValue,
    comment: Schema.optionalKey(text("Reason, for readers", 2_000)),
    participantId: Schema.optionalKey(
      text("The participant that is judged; the whole run unless given, and the decision for `correct`")
    )
  },
  output: { id: scalar, name: scalar },
  call: Effect.fnUntraced(function* (input, { backend: { plane } }) {
    const { comment, name, participantId, value } = input
    const mark = yield* plane.api.marks.add({
      params: { id: input.runId },
      payload: {
        target:
          participantId === undefined
            ? { kind: name === CORRECT ? "decision" : "run" }
            : { kind: "participant", id: participantId },
        name,
        value,
        source: "judge",
        judge: { name: "mcp" },
        ...(comment !== undefined && { comment })
      }
    })
    return {
      facts: defined({ id: mark.id, runId: mark.runId, name: mark.name, value: mark.value, author: mark.author }),
      rest: "run_get"
    }
  })
})

export const actionTools = [runSuspend, runResume, runCancel, markAdd]
