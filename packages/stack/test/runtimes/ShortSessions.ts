import { assert, layer } from "@effect/vitest"
import { ControlPlaneClient } from "@runplane/api"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ControlPlaneUnderTest } from "./ControlPlaneUnderTest.ts"
import { decision } from "./Messages.ts"
import { RuntimeUnderTest } from "./RuntimeUnderTest.ts"
import { LEAD, OPS, RISK, setStage } from "./Stage.ts"

/** `SHORT_SESSIONS` plays more. */
const SESSIONS = Number(process.env["SHORT_SESSIONS"] ?? 24)
const MESSAGES = 6

const p1 = { proposalId: "p1" }
const lines = [
  [LEAD, decision.proposal({ ...p1, option: "deploy v2" })],
  [RISK, decision.evaluation({ ...p1, recommendation: "APPROVE", confidence: 0.9 })],
  [RISK, decision.vote({ ...p1, vote: "APPROVE" })],
  [OPS, decision.vote({ ...p1, vote: "APPROVE" })]
] as const

/** A run whose agents do not pause: connected before, and done within milliseconds. */
const short = Effect.gen(function* () {
  const stage = yield* setStage({ mode: "decision" })
  for (const participant of [LEAD, RISK, OPS]) yield* stage.as(participant)
  yield* stage.post
  const started = yield* Clock.currentTimeMillis
  yield* stage.start
  yield* stage.say(...lines)
  yield* stage.commit("decision.selected", true)
  const took = (yield* Clock.currentTimeMillis) - started
  yield* stage.followed
  const { api } = yield* ControlPlaneClient
  const run = yield* api.runs.get({ params: { id: stage.runId }, query: {} })
  const { decision: decided } = yield* api.runs.state({ params: { id: stage.runId } })
  const { messageCount } = yield* api.runs.metrics({ params: { id: stage.runId } })
  const isWhole = messageCount === MESSAGES && decided.current?.action === "decision.selected"
  return { isWhole, isMarked: run.historyGap === true, took }
}).pipe(Effect.scoped)

/** Plays sessions without pauses, one after the other: what is lost of them, if anything, must be marked. */
export const shortSessions = <E>(name: string, runtime: Layer.Layer<RuntimeUnderTest, E>) => {
  const world = ControlPlaneUnderTest.layer.pipe(Layer.provideMerge(runtime))
  layer(world, { excludeTestServices: true, timeout: "2 minutes" })(name, (it) => {
    it.effect(`loses nothing in silence of ${SESSIONS} sessions without pauses`, () =>
      Effect.gen(function* () {
        const played = yield* Effect.replicateEffect(short, SESSIONS)
        const took = played.map((session) => session.took).sort((a, b) => a - b)
        const lost = played.filter(({ isWhole }) => !isWhole)
        const silent = lost.filter(({ isMarked }) => !isMarked)
        const positions = played.flatMap(({ isWhole }, position) => (isWhole ? [] : [position + 1]))
        const spread = [took[0], took[Math.floor(took.length / 2)], took.at(-1)].join(", ")
        yield* Effect.logInfo(
          `lost: ${positions.join(" ") || "none"} of ${SESSIONS}; least, median, most ms: ${spread}`
        )
        assert.lengthOf(silent, 0, "what is lost is marked")
        // A cold connection costs more than such a session lasts, so only a measurement insists on every one, unless
        // the history can be read later.
        const { keepsHistory } = yield* RuntimeUnderTest
        if (keepsHistory || process.env["SHORT_SESSIONS"] !== undefined) assert.lengthOf(lost, 0)
      })
    )
  })
}
