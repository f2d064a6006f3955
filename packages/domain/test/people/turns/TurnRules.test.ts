import { assert, describe, it } from "@effect/vitest"
import {
  contextIdOf,
  DEFAULT_POLICY,
  interfaceOf,
  type RemoteCard,
  readTurns,
  seatRules,
  type TurnContent,
  type TurnContext,
  turnFaults,
  turnMessage,
  turnMessageId,
  turnSeat
} from "@runplane/domain"
import * as Result from "effect/Result"
import { sha1 } from "../../support/digests.ts"

const context: TurnContext = {
  modeName: "macp.mode.decision.v1",
  ttlMs: 600_000,
  initiator: "lead",
  participants: ["lead", "remote"],
  agents: ["remote"],
  policy: DEFAULT_POLICY
}
const messages = (turns: Parameters<typeof turnFaults>[0], over: Partial<TurnContext> = {}) =>
  turnFaults(turns, { ...context, ...over }).map(({ at, level, message }) => `${level} ${at.join(".")}: ${message}`)

describe("the rules of turns", () => {
  it("are those of a seat that no person may answer", () => {
    const rules = seatRules("decision", turnSeat({ deadline: "90s", onFailure: "abstain", acts: ["vote"] }))
    assert.deepInclude(rules, {
      ...{ when: "evaluated", stale: "proposal", deadlineMs: 90_000, onDeadline: "abstain", reason: "optional" },
      ...{ assign: [], acts: ["vote"], wait: "open" }
    })
  })

  it("name each fault with its field", () => {
    assert.deepStrictEqual(messages({}), [])
    assert.deepStrictEqual(messages({ lead: {} }), [
      'error lead: the agent of participant "lead" does not speak A2A: give it a profile with framework a2a'
    ])
    assert.deepStrictEqual(messages({ stranger: {} }), [
      "error stranger: a2a.stranger is not a participant; name one of: lead, remote"
    ])
    assert.deepStrictEqual(messages({ remote: { deadline: "1h" } }), [
      "error remote.deadline: the deadline is after the end of the session (ttlMs 600000): shorten it"
    ])
    assert.deepStrictEqual(messages({ remote: { acts: ["accept"] } }), [
      'error remote.acts: a decision has no act "accept"; name some of: evaluate, object, vote, abstain'
    ])
    assert.match(messages({}, { initiator: "remote" })[0] ?? "", /opens the session/)
    assert.match(messages({}, { modeName: "macp.mode.task.v1" })[0] ?? "", /not in macp.mode.task.v1/)
    assert.match(
      messages({ remote: { onFailure: "abstain" } }, { modeName: "macp.mode.handoff.v1" })[0] ?? "",
      /error remote.onFailure: no participant of a handoff can abstain/
    )
  })

  it("warn that an abstention counts as a voter of the quorum", () => {
    const { commitment } = DEFAULT_POLICY.rules
    const rules = { ...DEFAULT_POLICY.rules, commitment: { ...commitment, require_vote_quorum: true } }
    assert.match(
      messages({ remote: { onFailure: "abstain" } }, { policy: { ...DEFAULT_POLICY, rules } })[0] ?? "",
      /^warning remote.onFailure: .*counts as a voter of the quorum/
    )
    assert.deepStrictEqual(messages({ remote: { onFailure: "nothing" } }, { policy: { ...DEFAULT_POLICY, rules } }), [])
  })

  it("refuse an unknown key with its path", () => {
    const read = readTurns({ remote: { assign: ["person:ana"] } })
    assert.isTrue(Result.isFailure(read))
    if (Result.isFailure(read)) assert.deepStrictEqual(read.failure[0]?.at, ["remote", "assign"])
  })
})

const ENTRY = "https://agents.example.org/.well-known/agent-card.json"
const cardWith = (...supportedInterfaces: NonNullable<RemoteCard["supportedInterfaces"]>): RemoteCard => ({
  name: "an agent",
  supportedInterfaces
})
const jsonRpc = { url: "https://agents.example.org/a2a/", protocolBinding: "JSONRPC", protocolVersion: "1.0" }

describe("the interface of an agent card", () => {
  it("is the first of version 1.0 at the origin of the card", () => {
    const card = cardWith({ ...jsonRpc, protocolVersion: "0.3" }, { ...jsonRpc, protocolBinding: "GRPC" }, jsonRpc)
    assert.deepStrictEqual(
      interfaceOf(card, ENTRY),
      Result.succeed({
        ...{ url: "https://agents.example.org/a2a", binding: "JSONRPC", streaming: false }
      } as const)
    )
  })

  it("has streams and notices where the card offers them", () => {
    const of = (capabilities: NonNullable<RemoteCard["capabilities"]>) =>
      Result.map(interfaceOf({ ...cardWith(jsonRpc), capabilities }, ENTRY), ({ push, streaming }) => [streaming, push])
    assert.deepStrictEqual(of({ streaming: true, pushNotifications: true }), Result.succeed([true, true]))
    assert.deepStrictEqual(of({ pushNotifications: false }), Result.succeed([false, undefined]))
  })

  it.each([
    ["of version 0.3", cardWith({ ...jsonRpc, protocolVersion: "0.3" }), "it offers JSONRPC 0.3; JSONRPC or"],
    ["over gRPC alone", cardWith({ ...jsonRpc, protocolBinding: "GRPC" }), "it offers GRPC 1.0; JSONRPC or"],
    ["without interfaces", cardWith(), "it offers no interface; JSONRPC or"],
    ["of a card of 0.3", { protocolVersion: "0.3.0" }, "it offers JSONRPC 0.3.0; JSONRPC or"],
    [
      "at another origin",
      cardWith({ ...jsonRpc, url: "https://evil.example.net/a2a" }),
      "its interface has the origin https://evil.example.net, and the card https://agents.example.org"
    ],
    [
      "at another port",
      cardWith({ ...jsonRpc, url: "https://agents.example.org:8443/" }),
      "its interface has the origin"
    ],
    [
      "with credentials",
      cardWith({ ...jsonRpc, url: "https://a:b@agents.example.org/" }),
      "its interface has the origin"
    ],
    ["without TLS", cardWith({ ...jsonRpc, url: "http://agents.example.org/a2a" }), "its interface has the origin"],
    [
      "that is not a URL",
      cardWith({ ...jsonRpc, url: "\u001b[31m" }),
      "the address of its interface is not a URL: ?[31m"
    ]
  ] as const)("is refused %s", (_, card, text) => {
    const found = interfaceOf(card, ENTRY)
    assert.isTrue(Result.isFailure(found))
    if (Result.isFailure(found)) assert.isTrue(found.failure.startsWith(text), found.failure)
  })
})

describe("the message of a turn", () => {
  const of = { sessionId: "s1", participant: "remote", turn: "i1" } as const
  const content: TurnContent = {
    mode: "decision",
    proposal: { option: "ship" },
    evaluations: [],
    policyInWords: ["Two of two."],
    allowedActs: ["approve"],
    proposalHash: "a".repeat(64),
    deadline: undefined
  }

  it("has one id at each send, and another in each phase, turn and session", () => {
    const ids = [
      turnMessageId(sha1, { ...of, phase: "first" }),
      turnMessageId(sha1, { ...of, phase: "input" }),
      turnMessageId(sha1, { ...of, phase: "repair" }),
      turnMessageId(sha1, { ...of, turn: "i2", phase: "first" }),
      turnMessageId(sha1, { ...of, sessionId: "s2", phase: "first" }),
      turnMessageId(sha1, { ...of, sessionId: "s1,", participant: "remote", phase: "first" })
    ]
    assert.strictEqual(new Set(ids).size, ids.length)
    assert.strictEqual(turnMessageId(sha1, { ...of, phase: "first" }), ids[0])
    for (const id of ids) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  })

  it("goes on with its task where the agent requires input, and refers to it in a repair", () => {
    const sent = (phase: "first" | "input" | "repair") =>
      turnMessage(content, {
        ...{ contextId: contextIdOf("s1", "remote"), messageId: "m", phase, taskId: "t1", traceparent: "00-1" }
      })
    assert.deepInclude(sent("first"), { contextId: "s1:remote", role: "ROLE_USER", metadata: { traceparent: "00-1" } })
    assert.notProperty(sent("first"), "taskId")
    assert.propertyVal(sent("input"), "taskId", "t1")
    assert.notProperty(sent("repair"), "taskId")
    assert.deepInclude(sent("repair"), { referenceTaskIds: ["t1"] })
    assert.notProperty(sent("first"), "referenceTaskIds")
  })
})
