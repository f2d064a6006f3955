import { contract, type Statement } from "./Contract.ts"
import { absent, including, isCount, isList, isText, Keys, listOf, TIMESTAMP, TRACE_ID, UUID } from "./Matching.ts"
import { LEAD, MODE, RISK } from "./World.ts"

/** A page of the scripted run's events of one type, with one event like this among them. */
const lists = (type: string, says: string, event: unknown): Statement => ({
  says: `${type}: ${says}`,
  given: "scripted",
  method: "GET",
  path: `/runs/:run/events?type=${type}`,
  status: 200,
  answer: { data: including(event) }
})

const envelope = (messageType: string, sender = RISK) => ({
  modeName: MODE,
  messageType,
  messageId: isText,
  sessionId: UUID,
  sender
})

contract("Events", [
  {
    says: "every event has id, runId, ascending seq, dense index, ts, type, source and data",
    given: "scripted",
    method: "GET",
    path: "/runs/:run/events?limit=1000",
    status: 200,
    answer: (events: ReadonlyArray<{ readonly seq: number; readonly index: number }>) =>
      listOf({ id: UUID, runId: UUID, seq: isCount, ts: TIMESTAMP, type: isText, source: { name: isText }, data: {} })(
        events
      ) && events.every((event, at) => event.index === at + 1 && event.seq > (events[at - 1]?.seq ?? 0))
  },
  lists("run.created", "the run record was created", {
    subject: { kind: "run" },
    data: { modeName: MODE, traceId: TRACE_ID }
  }),
  lists("run.started", "execution began", { data: { status: "starting", startedAt: TIMESTAMP } }),
  lists("run.completed", "the run was resolved", { data: { status: "completed", endedAt: TIMESTAMP } }),
  lists("session.bound", "the runtime session was established", {
    data: { initiator: LEAD, participants: [LEAD, RISK] }
  }),
  lists("session.stream.opened", "the stream was connected", { data: { status: "opened" } }),
  lists("session.state.changed", "the session changed its state", { data: { state: "RESOLVED" } }),
  lists("participant.seen", "a participant was registered", { subject: { kind: "participant", id: RISK } }),
  lists("message.received", "an inbound message of the runtime", {
    subject: { kind: "message" },
    source: { kind: "runtime" },
    data: { ...envelope("Vote"), payload: { vote: "APPROVE" } }
  }),
  lists("message.send_failed", "a delivery failed", { data: { errorMessage: "PolicyDenied: no quorum; too late" } }),
  lists("proposal.created", "a proposal is first seen, with its decoded payload", {
    subject: { kind: "proposal", id: "p1" },
    data: {
      ...envelope("Proposal", LEAD),
      decodedPayload: { proposalId: "p1", option: "go", rationale: "because", confidence: 0.8 }
    }
  }),
  lists("proposal.updated", "an evaluation is a later contribution", {
    subject: { kind: "proposal", id: "p1" },
    data: { ...envelope("Evaluation"), decodedPayload: { recommendation: "APPROVE", confidence: 0.9, reason: "sound" } }
  }),
  lists("proposal.updated", "so is a vote", {
    data: { ...envelope("Vote"), decodedPayload: { vote: "APPROVE", reason: "fine" } }
  }),
  lists("decision.finalized", "a commitment makes the decision binding", {
    subject: { kind: "decision", id: "c1" },
    data: { messageType: "Commitment", decodedPayload: { proposalId: "p1", commitmentId: "c1", action: "approve" } }
  }),
  lists("signal.emitted", "an ambient signal", {
    subject: { kind: "signal", id: "m12" },
    data: { decodedPayload: { signalType: "risk.high", severity: "high", confidence: 0.7 } }
  }),
  lists("signal.acknowledged", "names the signal that it acknowledges", { subject: { kind: "signal", id: "m12" } }),
  lists("progress.reported", "task progress, as a percentage", {
    data: { decodedPayload: { percentage: 50, message: "half" } }
  }),
  lists("tool.called", "a tool was invoked", { subject: { kind: "tool", id: "t1" } }),
  lists("tool.completed", "a tool gave its result", {
    subject: { kind: "tool", id: "t1" },
    data: { decodedPayload: { result: 7 } }
  }),
  lists("artifact.created", "an artifact was linked", { subject: { kind: "artifact" } }),
  lists("policy.resolved", "a policy was resolved at session start", {
    subject: { kind: "policy", id: "p.main" },
    data: {
      policyVersion: "p.main.v1",
      messageType: "PolicyResolved",
      decodedPayload: { policyId: "p.main", description: "main" }
    }
  }),
  lists("policy.commitment.evaluated", "a commitment was evaluated against the policy", {
    subject: { kind: "policy", id: "c1" },
    data: { decodedPayload: { commitmentId: "c1", decision: "allow", reasons: ["quorum met"] } }
  }),
  lists("policy.denied", "case 1, a PolicyDenied message of the stream", {
    subject: { kind: "policy", id: "c0" },
    data: {
      messageType: "PolicyDenied",
      errorCode: "POLICY_DENIED",
      decodedPayload: { decision: "deny", reasons: ["too early"] }
    }
  }),
  lists("policy.denied", "case 3, an inline error with the prefix; the text after it gives the reasons", {
    subject: { kind: "policy", id: "" },
    data: { errorCode: "POLICY_DENIED", decodedPayload: { decision: "deny", reasons: ["no quorum", "too late"] } }
  }),
  lists("llm.call.completed", "synthesized from the usage that a message carries, either spelling accepted", {
    subject: { kind: "message" },
    data: {
      decodedPayload: { model: "vendor1-4o", promptTokens: 100, completionTokens: 50, totalTokens: 150, latencyMs: 12 }
    }
  }),
  {
    says: "run.suspended is emitted by suspend",
    given: "suspended",
    method: "GET",
    path: "/runs/:run/events?type=run.suspended",
    status: 200,
    answer: { total: 1 }
  },
  {
    says: "run.resumed is emitted by resume",
    given: "suspended",
    after: [["POST", "/runs/:run/resume"]],
    method: "GET",
    path: "/runs/:run/events?type=run.resumed",
    status: 200,
    answer: { total: 1 }
  },
  {
    says: "run.failed has the error",
    given: "failed",
    method: "GET",
    path: "/runs/:run/events?type=run.failed",
    status: 200,
    answer: { data: [{ data: { status: "failed", error: "runtime session expired", errorCode: "SESSION_EXPIRED" } }] }
  },
  {
    says: "run.cancelled ends a cancelled run",
    given: "cancelled",
    method: "GET",
    path: "/runs/:run/events?type=run.cancelled",
    status: 200,
    answer: { data: [{ data: { status: "cancelled", endedAt: TIMESTAMP } }] }
  }
])

contract("Projected run state", [
  {
    says: "has all its sections",
    given: "scripted",
    method: "GET",
    path: "/runs/:run/state",
    status: 200,
    answer: new Keys(
      ...["run", "participants", "graph", "decision", "signals", "progress", "timeline", "trace"],
      ...["outboundMessages", "policy", "llm"]
    )
  },
  {
    says: "folds a finalized decision into decision.current (rules 1, 2, 3, 7)",
    given: "scripted",
    method: "GET",
    path: "/runs/:run/state",
    status: 200,
    answer: {
      decision: {
        current: {
          action: "approve",
          finalized: true,
          proposalId: "p1",
          outcomePositive: true,
          prompt: "because",
          resolvedAt: TIMESTAMP,
          resolvedBy: LEAD,
          proposals: including({ participantId: RISK, messageType: "Vote", vote: "allow" })
        }
      }
    }
  },
  {
    says: "tallies votes by proposal, with ceil(required / 2) as threshold (rule 5)",
    given: "scripted",
    method: "GET",
    path: "/runs/:run/state",
    status: 200,
    answer: {
      policy: { voteTally: including({ commitmentId: "c1", threshold: 1, quorum: { required: 2, cast: isCount } }) }
    }
  },
  {
    says: "reaches its quorum with an allowing evaluation (rule 6)",
    given: "scripted",
    method: "GET",
    path: "/runs/:run/state",
    status: 200,
    answer: {
      policy: {
        policyVersion: "p.main.v1",
        quorumStatus: "reached",
        commitmentEvaluations: [{ commitmentId: "c1", decision: "allow", reasons: ["quorum met"], ts: TIMESTAMP }]
      }
    }
  },
  {
    says: "has the quorum failed when the run ends without one (rule 6)",
    given: "failed",
    method: "GET",
    path: "/runs/:run/state",
    status: 200,
    answer: { run: { status: "failed" }, policy: { quorumStatus: "failed" } }
  },
  {
    says: "sweeps participants at the end: completed who spoke (rule 8)",
    given: "scripted",
    method: "GET",
    path: "/runs/:run/state",
    status: 200,
    answer: { participants: including({ participantId: RISK, status: "completed" }) }
  },
  {
    says: "sweeps participants at the end: skipped who never spoke (rule 8)",
    given: "completed",
    method: "GET",
    path: "/runs/:run/state",
    status: 200,
    answer: { participants: including({ participantId: RISK, status: "skipped" }) }
  },
  {
    says: "lists progress, llm calls with totals, and counts messages",
    given: "scripted",
    method: "GET",
    path: "/runs/:run/state",
    status: 200,
    answer: {
      progress: { entries: including({ participantId: RISK, percentage: 50, message: "half" }) },
      llm: { calls: including({ participantId: RISK, model: "vendor1-4o" }), totals: { callCount: 2 } },
      outboundMessages: { total: isCount, queued: isCount, accepted: isCount, rejected: isCount },
      timeline: { latestSeq: isCount, totalEvents: isCount, recent: isList }
    }
  },
  {
    says: "fills the acknowledgement into the signal that it is for (rule 9)",
    given: "scripted",
    method: "GET",
    path: "/runs/:run/state",
    status: 200,
    answer: {
      signals: {
        signals: [
          {
            id: "m12",
            name: "risk.high",
            severity: "high",
            confidence: 0.7,
            sourceParticipantId: RISK,
            acknowledgedAt: TIMESTAMP,
            acknowledgedBy: LEAD,
            payload: { signalType: "risk.high" }
          }
        ]
      }
    }
  },
  {
    says: "adds its sums to the metadata of a run that has completed",
    given: "scripted",
    method: "GET",
    path: "/runs/:run",
    status: 200,
    answer: {
      metadata: {
        durationMs: isCount,
        eventCount: isCount,
        signalCount: 1,
        decisionCount: 1,
        finalAction: "approve",
        finalConfidence: 0.9
      }
    }
  },
  {
    says: "prices tokens by the built-in rates; other models cost 1.00 and 3.00 a million",
    given: "scripted",
    method: "GET",
    path: "/runs/:run/metrics",
    status: 200,
    answer: {
      promptTokens: 1_000_100,
      completionTokens: 50,
      totalTokens: 1_000_150,
      estimatedCostUsd: (cost: number) => Math.abs(cost - (1 + (100 * 2.5 + 50 * 10) / 1e6)) < 1e-9
    }
  },
  {
    says: "has no maxSuspendMs unless the session gave one",
    given: "scripted",
    method: "GET",
    path: "/runs/:run/state",
    status: 200,
    answer: { run: { maxSuspendMs: absent, runId: UUID, modeName: MODE, runtimeSessionId: UUID, startedAt: TIMESTAMP } }
  }
])
