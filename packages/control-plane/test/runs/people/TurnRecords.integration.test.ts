import { assert, describe, layer } from "@effect/vitest"
import { encodePayload } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import { call, layerTestService } from "../../support/HttpService.ts"
import { HASH, PAYLOAD, post, SEAT, say, sha256, TIME, votedRun } from "./PeopleRuns.ts"

const USAGE = { model: "gpt-4o", provider: "openai", promptTokens: 1_200, completionTokens: 80, totalTokens: 1_280 }

const postTurn = (runId: string, over: object = {}) =>
  post(runId, {
    kind: "a2a.turn",
    label: "Turn of officer",
    idempotencyKey: "a2a.turn:i1",
    inline: {
      ...{ v: 1, turn: "i1", participant: SEAT, agentRef: "remote-agent", outcome: "acted", origin: "agent" },
      ...{ act: "reject", messageId: "m-own", ordinal: 2, payloadSha256: sha256(PAYLOAD), proposalHash: HASH },
      ...{ cardSha256: HASH, resent: 0, openedAt: TIME, closedAt: TIME, nonce: "0f".repeat(32) },
      ...over
    }
  })

const callsOf = (runId: string) =>
  Effect.map(call("GET", `/runs/${runId}/events?type=llm.call.completed&limit=200`), ({ body }) => body.data ?? body)

describe("records of turns of agents that speak A2A", () => {
  layer(layerTestService(), { excludeTestServices: true })("of a service without keys", (it) => {
    it.effect("make one model call of what the agent states, also after the decision, and also when sent again", () =>
      Effect.gen(function* () {
        const runId = yield* votedRun
        const commitment = encodePayload("macp.v1.CommitmentPayload", {
          ...{ commitmentId: "c1", action: "decision.rejected", authorityScope: "s", reason: "no" },
          outcomePositive: false
        })
        yield* say(runId, 2, "m-c", "lead", "Commitment", commitment)
        const first = yield* postTurn(runId, { usage: [USAGE] })
        assert.strictEqual(first.status, 201, first.text)
        assert.strictEqual((yield* postTurn(runId, { usage: [USAGE] })).body.id, first.body.id)
        const [event, ...others] = yield* callsOf(runId)
        assert.lengthOf(others, 0)
        assert.deepInclude(event.data, { sender: SEAT, messageId: "m-own", usageSource: "a2a", totalTokens: 1_280 })
        const { costBasis, estimatedCostUsd, priceKey } = event.data.decodedPayload
        assert.strictEqual(costBasis, "catalogue")
        assert.match(priceKey, /^openai\/gpt-4o@/)
        const { body: metrics } = yield* call("GET", `/runs/${runId}/metrics`)
        assert.deepInclude(metrics, { totalTokens: 1_280, estimatedCostUsd })
        const { body: why } = yield* call("GET", `/runs/${runId}/decision/why`)
        assert.deepStrictEqual(why.cost.byParticipant, [
          { participantId: SEAT, calls: 1, totalTokens: 1_280, costUsd: estimatedCostUsd }
        ])
      })
    )

    it.effect("make no call where nothing is stated, and refuse counts that cannot be", () =>
      Effect.gen(function* () {
        const runId = yield* votedRun
        for (const totalTokens of [-1, 1e308, "80", 0.5]) {
          const refused = yield* postTurn(runId, { usage: [{ ...USAGE, totalTokens }] })
          assert.strictEqual(refused.status, 400, refused.text)
          assert.include(refused.text, "usage")
        }
        assert.strictEqual((yield* postTurn(runId, { usage: [USAGE, USAGE, USAGE] })).status, 400)
        assert.strictEqual((yield* postTurn(runId)).status, 201)
        assert.lengthOf(yield* callsOf(runId), 0)
      })
    )

    it.effect("are taken only with the message of the act on record: of the participant, with its bytes", () =>
      Effect.gen(function* () {
        const runId = yield* votedRun
        for (const [over, status] of [
          [{ messageId: "m-none" }, 409],
          [{ messageId: "m-p" }, 400],
          [{ payloadSha256: HASH }, 400],
          [{ text: "of the agent" }, 400]
        ] as const) {
          const refused = yield* postTurn(runId, over)
          assert.strictEqual(refused.status, status, refused.text)
        }
        assert.lengthOf((yield* call("GET", `/runs/${runId}/artifacts`)).body, 0)
      })
    )
  })
})
