import { assert, layer } from "@effect/vitest"
import { ControlPlaneClient } from "@runplane/api"
import { RECEIPT_ARTIFACT, type RunId } from "@runplane/domain"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { ControlPlaneUnderTest } from "./ControlPlaneUnderTest.ts"
import { decision, proposal, task } from "./Messages.ts"
import type { RuntimeUnderTest } from "./RuntimeUnderTest.ts"
import { LEAD, OPS, openStage, RISK, type Script, type Stage } from "./Stage.ts"

/** How the runtime issues its receipts. */
export interface ReceiptsUnderTest {
  readonly issuer: string
  /** Undefined for receipts without a signature; `any` for a key of the process. */
  readonly keyId: string | undefined
}

const p1 = { proposalId: "p1" }

/** Sessions of several modes and outcomes: each needs a receipt that is verified. */
const SESSIONS: ReadonlyArray<
  readonly [
    name: string,
    mode: Script["mode"],
    outcome: readonly [action: string, positive: boolean],
    perform: (stage: Stage) => Effect.Effect<void>
  ]
> = [
  [
    "a decision that is selected",
    "decision",
    ["decision.selected", true],
    ({ say }) =>
      say(
        [LEAD, decision.proposal({ ...p1, option: "deploy v2", rationale: "tests are green" })],
        [RISK, decision.vote({ ...p1, vote: "APPROVE", reason: "fine" })],
        [OPS, decision.vote({ ...p1, vote: "APPROVE" })]
      )
  ],
  [
    "a decision that is rejected",
    "decision",
    ["decision.rejected", false],
    ({ say }) =>
      say(
        [LEAD, decision.proposal({ ...p1, option: "d\u00e9ployer \u{1F680}" })],
        [RISK, decision.vote({ ...p1, vote: "REJECT", reason: "no rollback" })],
        [OPS, decision.vote({ ...p1, vote: "REJECT" })]
      )
  ],
  [
    "a proposal",
    "proposal",
    ["proposal.accepted", true],
    ({ say }) =>
      say(
        [LEAD, proposal.proposal({ ...p1, title: "four weeks" })],
        [LEAD, proposal.accept(p1)],
        [RISK, proposal.accept(p1)],
        [OPS, proposal.accept(p1)]
      )
  ],
  [
    "a task that fails",
    "task",
    ["task.failed", false],
    ({ say }) =>
      say(
        [LEAD, task.request({ taskId: "t1", title: "count", instructions: "all of them", requestedAssignee: RISK })],
        [RISK, task.accept({ taskId: "t1", assignee: RISK })],
        [RISK, task.fail({ taskId: "t1", assignee: RISK, reason: "nothing to count", retryable: false })]
      )
  ]
]

const decodeInline = Schema.decodeUnknownSync(
  Schema.Struct({
    receipt: Schema.Struct({
      session_id: Schema.String,
      commitment_hash: Schema.String,
      commitment_wire_b64: Schema.String
    }),
    keys: Schema.Struct({ keys: Schema.Array(Schema.Struct({ kid: Schema.String })) })
  })
)

/** The receipt of the run, once it is recorded. */
const receiptOf = Effect.fnUntraced(function* (runId: RunId) {
  const { api } = yield* ControlPlaneClient
  const answer = yield* until(
    api.decisions.why({ params: { id: runId } }),
    (why) => typeof why !== "string" && why.receipt !== undefined,
    "100 millis"
  )
  const artifacts = yield* api.runs.artifacts({ params: { id: runId } })
  const [artifact] = artifacts.filter(({ kind }) => kind === RECEIPT_ARTIFACT)
  return { why: typeof answer === "string" ? undefined : answer, inline: decodeInline(artifact?.inline) }
})

/** Plays sessions against a runtime that issues receipts, and checks what the control plane makes of them. */
export const receiptSuite = <E>(
  name: string,
  runtime: Layer.Layer<RuntimeUnderTest, E>,
  { issuer, keyId }: ReceiptsUnderTest
) => {
  const world = ControlPlaneUnderTest.layer.pipe(Layer.provideMerge(runtime))
  layer(world, { excludeTestServices: true, timeout: "2 minutes" })(name, (it) => {
    for (const [subject, mode, outcome, perform] of SESSIONS) {
      it.effect(`verifies the receipt of ${subject}`, () =>
        Effect.gen(function* () {
          const stage = yield* openStage({ mode })
          yield* perform(stage)
          yield* stage.commit(...outcome)
          yield* stage.followed
          const { inline, why } = yield* receiptOf(stage.runId)
          assert.deepInclude(why?.receipt, {
            verified: true,
            signed: keyId !== undefined,
            issuer,
            hash: why?.outcome?.commitmentHash ?? ""
          })
          assert.isUndefined(why?.receipt?.reason)
          assert.strictEqual(inline.receipt.session_id, stage.sessionId)
          assert.strictEqual(inline.receipt.commitment_hash, why?.outcome?.commitmentHash)
          const named = inline.keys.keys.map(({ kid }) => kid)
          if (keyId === undefined) assert.deepStrictEqual(named, [])
          else if (keyId === "any") assert.lengthOf(named, 1)
          else assert.deepStrictEqual(named, [keyId])
          const { api } = yield* ControlPlaneClient
          const { decision: decided } = yield* api.runs.state({ params: { id: stage.runId } })
          assert.deepStrictEqual(decided.current?.receipt, why?.receipt)
        }).pipe(Effect.scoped)
      )
    }
  })
}
