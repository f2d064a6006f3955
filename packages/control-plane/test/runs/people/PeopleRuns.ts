import { createHash, randomUUID } from "node:crypto"
import type { RunId } from "@runplane/domain"
import { encodePayload } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import { observed } from "../../../src/event-log/append/FrameBytes.ts"
import { EventLog } from "../../../src/event-log/EventLog.ts"
import { call } from "../../support/HttpService.ts"
import { createRun } from "../../support/Runs.ts"

export const SEAT = "officer"
const MODE = "macp.mode.decision.v1"
export const PAYLOAD = encodePayload("macp.modes.decision.v1.VotePayload", {
  proposalId: "p1",
  vote: "REJECT",
  reason: "no\n[person ada item i1 sha256:1a2b]"
})
export const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")
export const HASH = "1a2b3c4d".repeat(8)
export const TIME = "2026-11-30T10:04:00.000Z"

/** An accepted message of the session of a run. */
export const say = (
  runId: RunId,
  cursor: number,
  messageId: string,
  sender: string,
  messageType: string,
  payload = PAYLOAD
) =>
  Effect.flatMap(EventLog, (log) =>
    log.observe({
      runId,
      cursor,
      frames: [
        observed(
          {
            kind: "stream-envelope",
            ambient: false,
            envelope: {
              ...{ macpVersion: "1.0", mode: MODE, messageType, messageId, sessionId: runId, sender, payload },
              timestampUnixMs: 1
            }
          },
          TIME
        )
      ]
    })
  )

/** A run with a proposal and the vote of the seat. */
export const votedRun = Effect.gen(function* () {
  const runId = yield* createRun({ scenarioRef: "payments/limit@1.0.0" })
  const proposal = encodePayload("macp.modes.decision.v1.ProposalPayload", { proposalId: "p1", option: "raise" })
  yield* say(runId, 0, "m-p", "lead", "Proposal", proposal)
  yield* say(runId, 1, "m-own", SEAT, "Vote")
  return runId
})

export const answer = (over: object = {}) => ({
  v: 1,
  item: "i1",
  seat: SEAT,
  origin: "person",
  person: "ada",
  proof: "session",
  act: "reject",
  messageId: "m-own",
  ordinal: 2,
  payloadSha256: sha256(PAYLOAD),
  proposalHash: HASH,
  basis: { ordinal: 1, sha256: HASH, withheld: [] },
  unseen: [],
  askedAt: "2026-11-30T10:00:00.000Z",
  answeredAt: TIME,
  channel: "api",
  revealed: "after",
  couldHaveSeen: false,
  nonce: "0f".repeat(32),
  ...over
})
export const item = (over: object = {}) => ({
  v: 1,
  item: "i1",
  event: "opened",
  seat: SEAT,
  scenario: "payments/limit@1.0.0",
  state: "open",
  unanswered: false,
  proposalHash: HASH,
  openedAt: TIME,
  deadline: "2026-11-30T14:04:00.000Z",
  nonce: "0e".repeat(32),
  ...over
})

export const post = (runId: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
  call("POST", `/runs/${runId}/artifacts`, { body, headers })
export const postAnswer = (runId: string, over: object = {}, key = "people.answer:i1") =>
  post(runId, { kind: "people.answer", label: "Answer of officer", inline: answer(over), idempotencyKey: key })
export const postItem = (runId: string, over: object = {}, key: string = randomUUID()) =>
  post(runId, { kind: "people.item", label: "Question", inline: item(over), idempotencyKey: key })
