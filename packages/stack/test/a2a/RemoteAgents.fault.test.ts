import { createHash } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { approves, makeJsAgent, request, until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createMigratedDatabase } from "../support/MigratedDatabase.ts"
import { startStack } from "../support/StackProcess.ts"
import { packsWith } from "../support/TestPacks.ts"
import { checkShownAsText, HOSTILE_REASON } from "./HostileReason.ts"

const SCENARIO = "incident/region-failover@1.0.0"
const REMOTE = "security-analyst"
const AGENT = "security-agent"

/** The packs, in which the security analyst is an agent that speaks A2A. */
const packsWithRemote = Effect.fnUntraced(function* (entrypoint: string) {
  const packs = yield* packsWith({})
  const write = (folder: string, document: object) =>
    writeFileSync(join(packs, "_agents", folder, `${AGENT}.json`), JSON.stringify(document))
  write("profiles", {
    ...{ agentRef: AGENT, name: "Security Agent", role: "security", framework: "a2a", description: "Of others." },
    ...{ transportIdentity: `agent://${AGENT}`, entrypoint, bootstrapStrategy: "seat", bootstrapMode: "deferred" },
    tags: ["security"]
  })
  const name = { id: AGENT, name: "Security Agent", version: "1.0.0" }
  write("manifests", { ...name, framework: "a2a", entrypoint })
  const scenario = join(packs, "incident/scenarios/region-failover/1.0.0/scenario.yaml")
  const rules = `\n    a2a:\n      ${REMOTE}: { onFailure: abstain }\n`
  writeFileSync(scenario, readFileSync(scenario, "utf8").replace("\n  launch:\n", `\n  launch:${rules}`))
  return packs
})

const servingWith = (entrypoint: string) =>
  Effect.gen(function* () {
    const database = yield* createMigratedDatabase
    const { line, ports } = yield* startStack({
      args: ["--no-demo"],
      env: {
        ...{ DATABASE_URL: database, LAUNCHER_DATABASE_URL: database, LOG_LEVEL: "error" },
        PACKS_DIR: yield* packsWithRemote(entrypoint)
      }
    })
    assert.isDefined(yield* line("Serving"))
    return { launcher: `http://127.0.0.1:${ports.launcher}`, controlPlane: `http://127.0.0.1:${ports.controlPlane}` }
  })
type Services = Effect.Success<ReturnType<typeof servingWith>>

const payload = { scenarioRef: SCENARIO, inputs: {}, bootstrapAgents: true }
const launch = ({ launcher }: Services) =>
  Effect.map(request("POST", `${launcher}/examples/run`, { body: payload }), ({ body, status, text }) => {
    assert.strictEqual(status, 201, text)
    const run: string = body.controlPlaneRun.runId
    return run
  })

const read = ({ controlPlane }: Services, path: string) => request("GET", `${controlPlane}/runs/${path}`)
const ended = (services: Services, run: string) =>
  until(read(services, run), ({ body }) => ["completed", "failed", "cancelled"].includes(body.status))
interface TurnArtifact {
  readonly kind: string
  readonly inline: Readonly<Record<string, unknown>>
}
/** The records of the turns of a run, once there is one. */
const turnsOf = (services: Services, run: string) =>
  Effect.map(
    until(read(services, `${run}/artifacts`), ({ body }) => body.some(({ kind }: TurnArtifact) => kind === "a2a.turn")),
    ({ body }) => body.filter(({ kind }: TurnArtifact) => kind === "a2a.turn").map(({ inline }: TurnArtifact) => inline)
  )
interface Message {
  readonly data: {
    readonly sender: string
    readonly messageType: string
    readonly messageId: string
    readonly payload: Readonly<Record<string, unknown>>
  }
}
const messagesOf = (services: Services, run: string) =>
  Effect.map(read(services, `${run}/events?type=message.received&limit=200`), ({ body }) =>
    body.data.map(({ data }: Message) => data).filter(({ sender }: Message["data"]) => sender === REMOTE)
  )

/** What the card of the agent says in another way, at the nth fetch. */
const cardAt = (card: "steady" | "changing" | "old", fetch: number) =>
  card === "steady"
    ? {}
    : card === "changing"
      ? { description: `version ${fetch}` }
      : { supportedInterfaces: [{ url: "http://127.0.0.1/", protocolBinding: "GRPC", protocolVersion: "0.3" }] }

layer(Layer.empty, { excludeTestServices: true })("an agent that speaks A2A in an example scenario", (it) => {
  it.effect("votes once with its record, fails a turn of a changed card, and is refused with an old one", () =>
    Effect.gen(function* () {
      let card: Parameters<typeof cardAt>[0] = "steady"
      const agent = yield* makeJsAgent(
        (one) => ({
          ...approves(one, { reason: HOSTILE_REASON }),
          metadata: { "gen_ai.usage.input_tokens": 900, "gen_ai.usage.output_tokens": 50, "gen_ai.request.model": "m" }
        }),
        { cardOf: (fetch) => cardAt(card, fetch) }
      )
      const services = yield* servingWith(agent.entrypoint)
      const served = yield* request("GET", agent.entrypoint)
      const cardSha256 = createHash("sha256").update(served.text).digest("hex")

      const rule = { name: "turns", measure: "failedTurns", per: "run", window: "run" }
      const added = yield* request("POST", `${services.controlPlane}/alerts/rules`, {
        body: { ...rule, id: "turns", levels: [{ at: 1, severity: "warning", actions: [] }] }
      })
      assert.strictEqual(added.status, 201, added.text)

      const run = yield* launch(services)
      const first = yield* ended(services, run)
      assert.strictEqual(first.body.status, "completed", first.text)
      assert.deepStrictEqual(first.body.metadata.a2a, {
        [REMOTE]: { agentRef: AGENT, cardSha256, signature: "not signed", binding: "JSONRPC" }
      })
      const [vote, ...others] = yield* messagesOf(services, run)
      assert.lengthOf(others, 0)
      assert.strictEqual(vote?.messageType, "Vote")
      assert.strictEqual(agent.asked.length, 1)
      const turns = yield* turnsOf(services, run)
      assert.lengthOf(turns, 1)
      assert.deepInclude(turns[0], {
        ...{ participant: REMOTE, agentRef: AGENT, outcome: "acted", origin: "agent", act: "approve" },
        ...{ confidence: 0.9, messageId: vote?.messageId, cardSha256, resent: 0, taskId: agent.asked[0]?.taskId }
      })
      assert.isTrue(String(vote?.payload["reason"]).startsWith(`${HOSTILE_REASON}\n[agent security-agent item `))
      const calls = yield* read(services, `${run}/events?type=llm.call.completed&limit=200`)
      const ofAgent = calls.body.data.filter(({ data }: Message) => data.sender === REMOTE)
      assert.lengthOf(ofAgent, 1)
      assert.deepInclude(ofAgent[0].data, { usageSource: "a2a", totalTokens: 950, model: "m" })
      const why = yield* read(services, `${run}/decision/why`)
      assert.match(why.body.summary, /^carried by 4 of 4; /)
      const voters = why.body.counterfactuals.map((one: { readonly participantId: string }) => one.participantId)
      assert.include(voters, REMOTE)

      yield* checkShownAsText(services, run)

      card = "changing"
      const changed = yield* launch(services)
      const second = yield* ended(services, changed)
      assert.strictEqual(second.body.status, "completed", second.text)
      const [abstention, ...more] = yield* messagesOf(services, changed)
      assert.lengthOf(more, 0)
      assert.strictEqual(abstention?.payload["vote"], "ABSTAIN")
      const [failed] = yield* turnsOf(services, changed)
      assert.deepInclude(failed, {
        ...{ outcome: "acted", origin: "failure", failure: "card-changed", act: "abstain" },
        cardSha256: second.body.metadata.a2a[REMOTE].cardSha256
      })
      const alerts = yield* until(request("GET", `${services.controlPlane}/runs/${changed}/alerts`), ({ body }) =>
        (body.data ?? body).some(({ ruleId }: { readonly ruleId: string }) => ruleId === "turns")
      )
      assert.notInclude(
        (yield* request("GET", `${services.controlPlane}/runs/${run}/alerts`)).text,
        '"turns"',
        alerts.text
      )
      const metrics = yield* until(request("GET", `${services.launcher}/metrics`), ({ text }) =>
        text.includes('runplane_a2a_turns_total{outcome="failed",failure="card-changed"} 1')
      )
      for (const line of [
        'runplane_a2a_turns_total{outcome="acted"} 1',
        'runplane_a2a_turns_total{outcome="ended"} 0',
        'runplane_a2a_turns_total{outcome="failed",failure="late"} 0',
        'runplane_a2a_turns_open{phase="first"} 0',
        "runplane_a2a_resent_total 0"
      ]) {
        assert.include(metrics.text, `\n${line}\n`)
      }
      // An agent of others that cannot be used makes the service no less ready.
      assert.strictEqual((yield* request("GET", `${services.launcher}/readyz`)).status, 200)
      // The agent of the changed card was never called.
      assert.strictEqual(agent.asked.length, 1)

      card = "old"
      for (const path of ["examples/run", "launch/compile"]) {
        const { bootstrapAgents: _, ...compile } = payload
        const body = path === "launch/compile" ? compile : payload
        const refused = yield* request("POST", `${services.launcher}/${path}`, { body })
        assert.strictEqual(refused.body.errorCode, "INVALID_CONFIG", refused.text)
        assert.include(refused.body.message, `agent ${AGENT}: manifest.entrypoint: the agent card ${agent.entrypoint} `)
        assert.include(refused.body.message, "it offers GRPC 0.3; JSONRPC or HTTP+JSON with protocol version 1.0")
      }
    })
  )
})
