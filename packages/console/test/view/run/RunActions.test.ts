import { assert, describe, it } from "@effect/vitest"
import { activePolicy, DEFAULT_POLICY, decisionRecord, RELEASES, RunStatus } from "@runplane/domain"
import { callsOf } from "../../../src/view/format/Cost.ts"
import { type RunAction, refusalOf } from "../../../src/view/run/Actions.ts"
import { authorityRefusalOf } from "../../../src/view/run/Authority.ts"
import { phasesOf } from "../../../src/view/run/Phases.ts"
import { columnsOf, conversationOf, isLlmCall, redactedPieces } from "../../../src/view/run/Spending.ts"
import { DECISION, eventsOf, said } from "../../support.ts"

describe("what can be done with a run", () => {
  const run = { archivedAt: null, runtimeKind: "rust", metadata: { cancellationDelegated: true } }
  const possible = (action: RunAction) =>
    RunStatus.literals.filter((status) => refusalOf(action, status, run) === undefined)

  it("follows the table of transitions", () => {
    assert.deepStrictEqual(possible("cancel"), ["queued", "starting", "binding_session", "running", "suspended"])
    assert.deepStrictEqual(possible("suspend"), ["running"])
    assert.deepStrictEqual(possible("resume"), ["suspended"])
    assert.deepStrictEqual(possible("delete"), ["completed", "failed", "cancelled"])
    assert.deepStrictEqual(possible("archive"), [...RunStatus.literals])
  })

  it("says why not", () => {
    assert.strictEqual(refusalOf("suspend", "queued", run), "The run is queued. Possible while it is running")
    assert.include(refusalOf("cancel", "completed", run) ?? "", "does not change any more")
    assert.include(
      refusalOf("archive", "completed", { ...run, archivedAt: "2026-01-01T00:00:00Z" }) ?? "",
      "archived already"
    )
    assert.include(refusalOf("delete", "running", run) ?? "", "only an ended run")
  })

  it("offers a cancellation only where the run says how, or the session may be lost", () => {
    const without = { ...run, metadata: {} }
    for (const status of ["queued", "binding_session", "running", "suspended"] as const) {
      assert.include(refusalOf("cancel", status, without) ?? "", "neither a cancel callback nor a delegation")
      const callback = { ...run, metadata: { cancelCallback: { url: "http://agents/cancel" } } }
      assert.isUndefined(refusalOf("cancel", status, callback))
      assert.isUndefined(refusalOf("cancel", status, { ...without, metadataOmitted: ["cancelCallback"] }))
    }
    assert.isUndefined(refusalOf("cancel", "running", without, { silentMs: 300_000 }))
    assert.isString(refusalOf("cancel", "queued", without, { silentMs: 300_000 }))
  })

  it("offers what the service does itself only where the session lets it", () => {
    const control = { authority: "the policy does not name it", silentMs: 0 }
    assert.strictEqual(refusalOf("suspend", "running", run, control), control.authority)
    assert.strictEqual(refusalOf("resume", "suspended", run, control), control.authority)
    assert.strictEqual(refusalOf("cancel", "running", run, control), control.authority)
    // A run that waits for its session is cancelled without a call.
    assert.isUndefined(refusalOf("cancel", "queued", run, control))
    const callback = { ...run, metadata: { cancelCallback: { url: "http://agents/cancel" } } }
    assert.isUndefined(refusalOf("cancel", "running", callback, control))
    assert.isUndefined(refusalOf("archive", "running", run, control))
  })

  it("knows from the policy whether the session lets the service", () => {
    const rules = (designated_roles: ReadonlyArray<string>) => ({
      ...activePolicy(decisionRecord([])),
      policyVersion: "policy.x",
      sessionRules: {
        mode: "decision" as const,
        terms: {
          initiator: "lead",
          participants: ["lead", "ana"],
          release: RELEASES[0],
          policy: {
            ...DEFAULT_POLICY,
            rules: {
              ...DEFAULT_POLICY.rules,
              commitment: {
                ...DEFAULT_POLICY.rules.commitment,
                authority: "designated_role" as const,
                designated_roles
              }
            }
          }
        }
      }
    })
    const lead = { initiator: "lead" }
    assert.isUndefined(authorityRefusalOf(lead, rules(["plane"]), "plane"))
    assert.include(authorityRefusalOf(lead, rules(["ana"]), "plane") ?? "", "names plane among")
    assert.isUndefined(authorityRefusalOf(lead, rules([]), "lead"))
    assert.isUndefined(authorityRefusalOf(lead, rules([]), undefined))
  })

  it("leaves out the control of applications that send OpenTelemetry", () => {
    const ingested = { archivedAt: null, runtimeKind: "otlp", metadata: {} }
    for (const action of ["cancel", "suspend", "resume"] as const) {
      for (const status of RunStatus.literals) assert.include(refusalOf(action, status, ingested), "not controlled")
    }
    assert.isUndefined(refusalOf("delete", "completed", ingested))
  })
})

describe("phases", () => {
  it("begin with the first event of each kind, in order, and again after a pause", () => {
    assert.deepStrictEqual(
      phasesOf(eventsOf(DECISION)).map(({ index, title }) => [title, index]),
      [
        ["Waiting", 1],
        ["Proposals", 3],
        ["Opinions", 5],
        ["Votes", 6],
        ["Objections", 7],
        ["Decided", 11],
        ["Ended", 12]
      ]
    )
    const paused = [{ type: "run.suspended" }, { type: "run.resumed" }, said("proposal.updated", "Vote", "ana", {})]
    const titles = phasesOf(eventsOf([...DECISION.slice(0, 8), ...paused])).map(({ title }) => title)
    assert.deepStrictEqual(titles.slice(-3), ["Suspended", "Resumed", "Votes"])
  })
})

describe("calls of language models", () => {
  const call = (sender: string, tokens: number, more: Readonly<Record<string, unknown>> = {}) =>
    said("llm.call.completed", "Signal", sender, {
      promptTokens: tokens,
      completionTokens: 1,
      estimatedCostUsd: 0.5,
      latencyMs: 10 * tokens,
      ...more
    })

  it("are put together in columns without losing a token or a cent", () => {
    const calls = callsOf(
      eventsOf([call("ana", 10), call("bob", 20), call("ana", 30), call("ana", 40), call("bob", 50)])
    )
    const columns = columnsOf(calls, 2)
    assert.strictEqual(columns.length, 2)
    assert.strictEqual(
      columns.reduce((sum, { total }) => sum + total, 0),
      155
    )
    assert.strictEqual(columns.at(-1)?.costUsd, 2.5)
    assert.deepStrictEqual([columns[0]?.from, columns[0]?.to, columns[0]?.latencyMs], [1, 3, 300])
    assert.deepStrictEqual(columnsOf([], 5), [])
  })

  it("show prompt and response as far as they are reported, and mark redactions", () => {
    const [reported, unreported] = eventsOf([
      call("ana", 1, { prompt: "my key is [REDACTED], what now?", response: { say: "nothing" } }),
      call("bob", 1)
    ])
    if (!isLlmCall(reported) || !isLlmCall(unreported)) throw new Error("these are calls")
    const { prompt = "", response } = conversationOf(reported)
    assert.deepStrictEqual(redactedPieces(prompt), [
      { text: "my key is ", isRedacted: false },
      { text: "[REDACTED]", isRedacted: true },
      { text: ", what now?", isRedacted: false }
    ])
    assert.include(response ?? "", "nothing")
    assert.deepStrictEqual(conversationOf(unreported), { prompt: undefined, response: undefined })
  })
})
