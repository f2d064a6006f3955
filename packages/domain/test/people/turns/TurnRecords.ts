import type { TurnRecord } from "@runplane/domain"

/** The record of a turn that is late. */
export const turnRecord: TurnRecord = {
  v: 1,
  turn: "i1",
  participant: "remote",
  agentRef: "remote-agent",
  outcome: "failed",
  failure: "late",
  proposalHash: "1a2b3c4d".repeat(8),
  cardSha256: "0f".repeat(32),
  resent: 0,
  openedAt: "2026-11-30T10:00:00.000Z",
  closedAt: "2026-11-30T10:05:00.000Z",
  nonce: "0f".repeat(32)
}
