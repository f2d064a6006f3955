import { execFile } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import { ParticipantClient } from "@runplane/runtime"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { Answers, type Submitted } from "../../src/people/Answers.ts"
import { Inbox } from "../../src/people/Inbox.ts"
import { SeatRows } from "../../src/people/SeatRows.ts"
import {
  addContext,
  addSeat,
  ana,
  DECISION,
  HANDOFF,
  itemWhen,
  messagesOf,
  offer,
  propose,
  QUORUM,
  request,
  SEAT,
  say,
  shown,
  start,
  vote
} from "./SeatStage.ts"
import { itemOf, makeWorldAt } from "./SuspensionStage.ts"

const SESSION = "00000000-0000-4000-8000-000000000001"

/** Runs a program of the SDK for Python against a runtime. */
const runPython = (python: string, runtime: string, program: string) =>
  Effect.callback<void>((resume) => {
    const text = `
from macp_sdk import AuthConfig, DecisionSession, HandoffSession, MacpClient, QuorumSession
def name(sender):
    return AuthConfig.for_bearer(sender, expected_sender=sender)
client = MacpClient(target="${runtime}", allow_insecure=True, auth=name("lead"))
about = dict(session_id="${SESSION}", configuration_version="c1")
def opens(kind, participants):
    session = kind(client, **about)
    session.start(intent="test", participants=participants, ttl_ms=600_000)
    return session
${program}`
    const child = execFile(python, ["-c", text], (failure, _stdout, stderr) =>
      resume(failure === null ? Effect.void : Effect.die(new Error(stderr)))
    )
    return Effect.sync(() => child.kill())
  })

/** The agents of a session, as programs that know nothing of people: they do not wait for the person. */
interface Agents {
  readonly decision: (runtime: string) => Effect.Effect<unknown, unknown, ParticipantClient>
  readonly quorum: (runtime: string) => Effect.Effect<unknown, unknown, ParticipantClient>
  readonly handoff: (runtime: string) => Effect.Effect<unknown, unknown, ParticipantClient>
}

export const onTheWire: Agents = {
  decision: () =>
    Effect.all([start(SESSION, ["lead", "a", SEAT]), propose(SESSION), vote(SESSION, "a")], { discard: true }),
  quorum: () =>
    Effect.all(
      [
        start(SESSION, ["lead", "a", SEAT], QUORUM),
        request(SESSION),
        say(SESSION, "a", "Approve", "macp.modes.quorum.v1.ApprovePayload", { requestId: "q1" }, { mode: QUORUM })
      ],
      { discard: true }
    ),
  handoff: () => Effect.all([start(SESSION, ["lead", SEAT], HANDOFF), offer(SESSION), addContext(SESSION)])
}

export const inPython = (python: string): Agents => ({
  decision: (runtime) =>
    runPython(
      python,
      runtime,
      `session = opens(DecisionSession, ["lead", "a", "${SEAT}"])
session.propose("p1", "option p1", rationale="tests passed")
session.vote("p1", "APPROVE", reason="fine", sender="a", auth=name("a"))`
    ),
  quorum: (runtime) =>
    runPython(
      python,
      runtime,
      `session = opens(QuorumSession, ["lead", "a", "${SEAT}"])
session.request_approval("q1", "pay", required_approvals=2)
session.approve("q1", reason="fine", sender="a", auth=name("a"))`
    ),
  handoff: (runtime) =>
    runPython(
      python,
      runtime,
      `session = opens(HandoffSession, ["lead", "${SEAT}"])
session.offer("h1", "${SEAT}", scope="the on-call shift")
session.add_context("h1", content_type="text/plain", context=b"quiet so far")`
    )
})

/** What the runtime answers to a commitment of the initiator: its code, or the state of the session. */
const commit = Effect.fnUntraced(function* (mode: string, action: string, positive: boolean, messageId: string) {
  const client = yield* ParticipantClient
  const lead = client.as(Redacted.make("lead"))
  const sent = yield* Effect.exit(
    say(
      SESSION,
      "lead",
      "Commitment",
      "macp.v1.CommitmentPayload",
      {
        commitmentId: messageId,
        action,
        authorityScope: "test",
        reason: "done",
        modeVersion: "1.0.0",
        configurationVersion: "c1",
        outcomePositive: positive
      },
      { id: messageId, mode }
    )
  )
  return sent._tag === "Success" ? (yield* lead.getSession(SESSION)).state : "refused"
})

/** Waits until the service has read so many messages, and has brought its items up to them. */
const hasRead = (messages: number) =>
  Effect.gen(function* () {
    const seats = yield* SeatRows
    yield* until(seats.find(SESSION, SEAT), (row) => row !== undefined && row.lastOrdinal >= messages)
  })

/** The person answers the open item, and its message is read back. */
const answer = Effect.fnUntraced(function* (content: Submitted["content"]) {
  const item = yield* itemOf(SESSION, "open")
  const answers = yield* Answers
  yield* answers.submit(item.id, ana, { content, proposalHash: item.proposalHash, basis: yield* shown(SESSION) })
  yield* itemOf(SESSION, "accepted")
  const messages = yield* messagesOf(SESSION)
  return messages.map(({ messageType, sender }) => `${sender} ${messageType}`)
})

/** A person among agents that vote before it, in each mode that has seats, on a runtime. */
export const modesSuite = (
  name: string,
  startRuntime: Effect.Effect<string, { readonly message: string }, Scope.Scope>,
  agents: Agents
) => {
  const world = Effect.flatMap(startRuntime, makeWorldAt)

  describe(`a seat among agents that do not wait, on ${name}`, () => {
    it.live("votes in a decision, without the evaluation that the first vote has closed", () =>
      Effect.gen(function* () {
        const { layer, runtime } = yield* world
        yield* Effect.gen(function* () {
          yield* addSeat(SESSION, { acts: ["evaluate", "vote"] })
          yield* agents.decision(runtime)
          const item = yield* itemWhen(SESSION, "open")
          yield* hasRead(3)
          const seen = yield* (yield* Inbox).show(ana, item.id)
          assert.deepStrictEqual(seen?.acts, ["approve", "reject"])
          assert.match(seen?.closedActs ?? "", /after the first vote/)
          assert.deepStrictEqual(yield* answer({ act: "reject", reason: "not tonight" }), [
            "lead SessionStart",
            "lead Proposal",
            "a Vote",
            `${SEAT} Vote`
          ])
          assert.strictEqual(yield* commit(DECISION, "decision.declined", false, "c1"), "RESOLVED")
        }).pipe(Effect.provide(layer()))
      })
    )

    it.live("is the approval that a quorum still needs", () =>
      Effect.gen(function* () {
        const { layer, runtime } = yield* world
        yield* Effect.gen(function* () {
          yield* addSeat(SESSION, {}, QUORUM)
          yield* agents.quorum(runtime)
          yield* itemWhen(SESSION, "open")
          assert.strictEqual(yield* commit(QUORUM, "quorum.approved", true, "c1"), "refused")
          assert.deepStrictEqual(yield* answer({ act: "approve", reason: "within the budget" }), [
            "lead SessionStart",
            "lead ApprovalRequest",
            "a Approve",
            `${SEAT} Approve`
          ])
          assert.strictEqual(yield* commit(QUORUM, "quorum.approved", true, "c2"), "RESOLVED")
        }).pipe(Effect.provide(layer()))
      })
    )

    it.live("accepts a handoff with the context that it was shown", () =>
      Effect.gen(function* () {
        const { layer, runtime } = yield* world
        yield* Effect.gen(function* () {
          yield* addSeat(SESSION, {}, HANDOFF)
          yield* agents.handoff(runtime)
          yield* hasRead(3)
          assert.strictEqual(yield* commit(HANDOFF, "handoff.accepted", true, "c1"), "refused")
          assert.deepStrictEqual(yield* answer({ act: "accept", reason: "I take it" }), [
            "lead SessionStart",
            "lead HandoffOffer",
            "lead HandoffContext",
            `${SEAT} HandoffAccept`
          ])
          assert.strictEqual(yield* commit(HANDOFF, "handoff.accepted", true, "c2"), "RESOLVED")
        }).pipe(Effect.provide(layer()))
      })
    )
  })
}
