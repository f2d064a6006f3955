import { assert, describe, it } from "@effect/vitest"
import { bootstrapOf, environmentOf } from "../../src/agents/AgentBootstrap.ts"
import type { LauncherOptions } from "../../src/LauncherSettings.ts"
import { compiledLaunch, SESSION_ID } from "../fixtures/Compiled.ts"
import { settings } from "../fixtures/Settings.ts"

const runtime: LauncherOptions = {
  runtimeAddress: "127.0.0.1:50051",
  runtimeTls: false,
  runtimeAllowInsecure: true
}
const assignment = (participantId: string) => {
  const compiled = compiledLaunch()
  const binding = compiled.participantBindings.find((candidate) => candidate.participantId === participantId)
  assert.isDefined(binding)
  return { compiled, binding, token: "tok", framework: "custom" }
}

describe("the bootstrap of an agent", () => {
  it("has the role of a member, without data of the initiator", () => {
    assert.deepStrictEqual(bootstrapOf(assignment("one"), settings(runtime)), {
      participant_id: "one",
      session_id: SESSION_ID,
      mode: "macp.mode.decision.v1",
      runtime_url: "127.0.0.1:50051",
      auth_token: "tok",
      secure: false,
      allow_insecure: true,
      participants: ["one", "two", "lead"],
      mode_version: "1.0.0",
      configuration_version: "config.default",
      policy_version: "policy.p",
      metadata: {
        run_id: SESSION_ID,
        scenario_ref: "demo/one@1.0.0",
        role: "member",
        framework: "custom",
        agent_ref: "agent-a",
        policy_hints: { type: "none" },
        session_context: { n: 1 }
      }
    })
  })

  it("names the agents that speak A2A, which are waited for as long as their turns or other agents take", () => {
    const given = assignment("one")
    const agent = {
      ...{ agentRef: "remote-agent", entrypoint: "https://a.example.org/card", cardSha256: "0".repeat(64) },
      ...{ signature: "not signed", interface: { url: "https://a.example.org/a2a", binding: "JSONRPC" } as const }
    }
    const remote = { ...agent, interface: { ...agent.interface, streaming: false } }
    const a2a = {
      one: { rules: {}, agent: remote },
      two: { rules: { acts: ["evaluate", "vote"], deadline: "2m" } as const, agent: remote }
    }
    assert.deepStrictEqual(
      bootstrapOf({ ...given, compiled: { ...given.compiled, a2a } }, settings(runtime))["wait_for"],
      [
        { participant_id: "one", evaluates: false, deadline_ms: 60_000 },
        { participant_id: "two", evaluates: true, deadline_ms: 120_000 }
      ]
    )
  })

  it("gives each agent the seed and the model of its gate", () => {
    const given = assignment("one")
    const { runDescriptor } = given.compiled
    const { session } = runDescriptor
    const gate = { case: "c", seed: 7, model: "m", variant: "model=m" }
    const compiled = {
      ...given.compiled,
      runDescriptor: { ...runDescriptor, session: { ...session, metadata: { ...session.metadata, gate } } }
    }
    const { metadata } = bootstrapOf({ ...given, compiled }, settings(runtime))
    assert.deepInclude(metadata, { seed: 7, model: "m" })
  })

  it("gives the initiator the fields of its SessionStart", () => {
    assert.deepStrictEqual(bootstrapOf(assignment("lead"), settings(runtime))["initiator"], {
      session_start: {
        intent: "decide",
        participants: ["one", "two", "lead"],
        ttl_ms: 60_000,
        max_suspend_ms: 5_000,
        mode_version: "1.0.0",
        configuration_version: "config.default",
        policy_version: "policy.p",
        extensions: { "a.b": "eA==" }
      },
      kickoff: {
        message_type: "Proposal",
        payload_type: "macp.modes.decision.v1.ProposalPayload",
        payload: { proposal_id: "p" }
      }
    })
  })

  it("has the header that lets its telemetry join the run, in the file alone", () => {
    const joining = { ...assignment("one"), joinHeader: "x-runplane-join=secret" }
    assert.strictEqual(bootstrapOf(joining, settings(runtime))["otlp_headers"], "x-runplane-join=secret")
    assert.notProperty(bootstrapOf(assignment("one"), settings(runtime)), "otlp_headers")
    assert.notInclude(Object.values(environmentOf(joining, settings(runtime), "/tmp/b.json")).join(), "secret")
  })

  it("names the cancel callback that was assigned to it, in the file and in variables", () => {
    const cancelCallback = { host: "127.0.0.1", port: 20_001, path: "/agent/cancel", bearer: "secret" }
    const listening = { ...assignment("one"), cancelCallback }
    assert.deepStrictEqual(bootstrapOf(listening, settings(runtime))["cancel_callback"], cancelCallback)
    const env = environmentOf(listening, settings(runtime), "/tmp/b.json")
    assert.include(env, {
      PROTO_CANCEL_CALLBACK_HOST: "127.0.0.1",
      PROTO_CANCEL_CALLBACK_PORT: "20001",
      MACP_CANCEL_CALLBACK_PATH: "/agent/cancel"
    })
    assert.notInclude(Object.values(env), "secret")
  })

  it("repeats the identity in variables under both prefixes", () => {
    const env = environmentOf(assignment("one"), settings(runtime), "/tmp/b.json")
    for (const prefix of ["MACP", "PROTO"]) {
      assert.strictEqual(env[`${prefix}_BOOTSTRAP_FILE`], "/tmp/b.json")
      assert.strictEqual(env[`${prefix}_PARTICIPANT_ID`], "one")
      assert.strictEqual(env[`${prefix}_SESSION_ID`], SESSION_ID)
      assert.strictEqual(env[`${prefix}_RUNTIME_TLS`], "false")
      assert.strictEqual(env[`${prefix}_RUNTIME_TOKEN`], "tok")
      assert.strictEqual(env[`${prefix}_CANCEL_CALLBACK_PORT`], "")
    }
  })
})
