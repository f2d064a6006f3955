import type * as PgClient from "@effect/sql-pg/PgClient"
import type { SeatText } from "@runplane/domain"
import { encodePayload, type OutgoingEnvelope, ParticipantClient } from "@runplane/runtime"
import { Sandbox, SandboxFaults } from "@runplane/sandbox"
import { createDatabase, until } from "@runplane/testing"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { RunRecords } from "../../src/control-plane/RunRecords.ts"
import { Answers } from "../../src/people/Answers.ts"
import { Delegations } from "../../src/people/escalate/Delegations.ts"
import { Inbox } from "../../src/people/Inbox.ts"
import { type ItemRow, ItemRows } from "../../src/people/ItemRows.ts"
import { PeopleAudit } from "../../src/people/PeopleAudit.ts"
import { layerPeopleDatabase } from "../../src/people/PeopleDatabase.ts"
import { PeopleErasures } from "../../src/people/PeopleErasures.ts"
import { layerRecordOutbox } from "../../src/people/RecordOutbox.ts"
import { Returns } from "../../src/people/Returns.ts"
import { SeatRows } from "../../src/people/SeatRows.ts"
import { SeatRunner } from "../../src/people/SeatRunner.ts"
import { SeatWork } from "../../src/people/SeatWork.ts"
import { layerPersons, layerRemotes, layerTokens, SEAT } from "./SeatNames.ts"

export { SEAT }
export const DECISION = "macp.mode.decision.v1"
export const ana = { id: "ana", groups: [], proof: "session", channel: "api" } as const
export const bo = { ...ana, id: "bo" }

/** The service of seats over a database and a runtime; built anew, it is a restarted service. */
export const layerSeats = (
  database: Layer.Layer<PgClient.PgClient, unknown>,
  runtime: string,
  records: RunRecords["Service"] = RunRecords.none,
  persons = layerPersons()
) =>
  Layer.mergeAll(
    ...[Answers.layer, Inbox.layer, Returns.layer, Delegations.layer],
    ...[PeopleAudit.layer, PeopleErasures.layer, layerRecordOutbox]
  ).pipe(
    Layer.provideMerge(SeatRunner.layer),
    Layer.provideMerge(SeatWork.layer),
    Layer.provide([layerTokens, persons, layerRemotes]),
    Layer.provide(Layer.succeed(RunRecords, records)),
    Layer.provideMerge(ParticipantClient.layerGrpc({ address: runtime })),
    Layer.provideMerge(database)
  )

/** A runtime and a database of their own. */
export const makeWorldWith = Effect.fnUntraced(function* (options: Parameters<typeof Sandbox.layer>[0]) {
  const context = yield* Layer.build(Sandbox.layer({ port: 0, ...options }))
  const sandbox = Context.get(context, Sandbox)
  const url = yield* createDatabase
  const client = ParticipantClient.layerGrpc({ address: sandbox.address })
  return {
    runtime: sandbox.address,
    faults: Context.get(context, SandboxFaults),
    url,
    /** The service of seats. Each one is a new process to the rows and to the runtime. */
    layer: (records?: RunRecords["Service"], runtime = sandbox.address, persons = layerPersons()) =>
      layerSeats(layerPeopleDatabase({ url }), runtime, records, persons),
    /** The rows alone, while no service runs. */
    rows: () =>
      SeatWork.layer.pipe(
        Layer.provide(layerPersons()),
        Layer.provideMerge(layerPeopleDatabase({ url })),
        Layer.merge(client)
      )
  }
})

export const makeWorld = makeWorldWith({})

let messages = 0

/** Sends a message in the name of a participant, and requires that it is accepted. */
export const say = Effect.fnUntraced(function* (
  sessionId: string,
  by: string,
  messageType: string,
  payloadType: string,
  payload: Parameters<typeof encodePayload>[1],
  { id, mode = DECISION }: { readonly id?: string; readonly mode?: string } = {}
) {
  const client = yield* ParticipantClient
  messages += 1
  const envelope: OutgoingEnvelope = {
    sessionId,
    mode,
    messageType,
    messageId: id ?? `test-${messages}`,
    timestampUnixMs: Date.now(),
    payload: encodePayload(payloadType, payload)
  }
  const ack = yield* client.as(Redacted.make(by)).send(envelope)
  if (!ack.ok) return yield* Effect.die(new Error(`${by} ${messageType}: ${ack.error?.code} ${ack.error?.message}`))
  return ack
})

const decision = (type: string) => `macp.modes.decision.v1.${type}Payload`

export const start = (sessionId: string, participants = ["lead", "a", "b", SEAT], mode = DECISION) =>
  say(
    sessionId,
    "lead",
    "SessionStart",
    "macp.v1.SessionStartPayload",
    { intent: "test", participants, modeVersion: "1.0.0", configurationVersion: "c1", ttlMs: "600000" },
    { mode }
  )
export const propose = (sessionId: string, proposalId = "p1") =>
  say(sessionId, "lead", "Proposal", decision("Proposal"), { proposalId, option: `option ${proposalId}` })
export const evaluate = (sessionId: string, by: string, proposalId = "p1") =>
  say(sessionId, by, "Evaluation", decision("Evaluation"), { proposalId, recommendation: "APPROVE", confidence: 0.9 })
export const vote = (sessionId: string, by: string, vote = "APPROVE", proposalId = "p1") =>
  say(sessionId, by, "Vote", decision("Vote"), { proposalId, vote })

export const commit = (sessionId: string) =>
  say(sessionId, "lead", "Commitment", "macp.v1.CommitmentPayload", {
    commitmentId: "c1",
    action: "decision.selected",
    authorityScope: "test",
    reason: "done",
    modeVersion: "1.0.0",
    configurationVersion: "c1",
    outcomePositive: true
  })

/** A seat of the tests: opens at once, for ana and bo. */
const seatOf = (sessionId: string, rules: Partial<SeatText>, modeName: string) => [
  {
    sessionId,
    seat: SEAT,
    modeName,
    scenarioRef: "test/people@1.0.0",
    rules: { assign: ["person:ana", "person:bo"], when: "proposed", ...rules } as const,
    seats: [SEAT],
    requester: "rita"
  }
]

/** Adds the seat to a running service. */
export const addSeat = (sessionId: string, rules: Partial<SeatText> = {}, modeName = DECISION) =>
  Effect.flatMap(SeatRunner, ({ add }) => add(seatOf(sessionId, rules, modeName)))

/** Adds the row of the seat alone: a service runs it when it starts. */
export const addRow = (sessionId: string) => Effect.flatMap(SeatRows, ({ add }) => add(seatOf(sessionId, {}, DECISION)))

export const itemRows = (sessionId: string) => Effect.flatMap(ItemRows, ({ ofSeat }) => ofSeat(sessionId, SEAT))

/** The accepted messages of a session, as the runtime replays them to a participant. */
export const messagesOf = Effect.fnUntraced(function* (sessionId: string) {
  const lead = (yield* ParticipantClient).as(Redacted.make("lead"))
  const { participantActivity } = yield* lead.getSession(sessionId)
  // SessionStart is not counted.
  const count = 1 + participantActivity.reduce((total, { messageCount }) => total + messageCount, 0)
  const frames = yield* Stream.runCollect(Stream.take(lead.streamSession({ sessionId, afterSequence: 0 }), count))
  return frames.flatMap((frame) => (frame._tag === "Envelope" ? [frame.envelope] : []))
})

/** The items of the seat, once they are as wanted. */
export const itemsWhen = (sessionId: string, wanted: (items: ReadonlyArray<ItemRow>) => boolean) =>
  Effect.flatMap(ItemRows, ({ ofSeat }) => until(ofSeat(sessionId, SEAT), wanted))

export const itemWhen = (sessionId: string, state: ItemRow["state"], at = 0) =>
  Effect.map(
    itemsWhen(sessionId, (items) => items[at]?.state === state),
    (items): ItemRow => {
      const item = items[at]
      if (item === undefined) throw new Error("no item")
      return item
    }
  )

/** What a person is shown of the session now. */
export const shown = (sessionId: string) =>
  Effect.map(SeatRunner, ({ sessionOf }) => {
    const view = sessionOf(sessionId, SEAT)?.view
    return { ordinal: view?.messages.length ?? 0, sha256: view?.messages.at(-1)?.digest ?? "" }
  })

/** The accepted messages of the seat as the runtime has them. */
export const accepted = (sessionId: string) =>
  Effect.map(SeatRunner, ({ sessionOf }) =>
    (sessionOf(sessionId, SEAT)?.view.messages ?? []).filter(({ statement }) => statement.by === SEAT)
  )

export const QUORUM = "macp.mode.quorum.v1"
export const HANDOFF = "macp.mode.handoff.v1"

const quorum = (type: string) => `macp.modes.quorum.v1.${type}Payload`
const handoff = (type: string) => `macp.modes.handoff.v1.${type}Payload`

export const request = (sessionId: string) =>
  say(
    sessionId,
    "lead",
    "ApprovalRequest",
    quorum("ApprovalRequest"),
    { requestId: "q1", action: "pay", requiredApprovals: 2 },
    { mode: QUORUM }
  )
export const offer = (sessionId: string, handoffId = "h1") =>
  say(
    sessionId,
    "lead",
    "HandoffOffer",
    handoff("HandoffOffer"),
    { handoffId, targetParticipant: SEAT, scope: "the on-call shift" },
    { mode: HANDOFF }
  )
export const addContext = (sessionId: string) =>
  say(
    sessionId,
    "lead",
    "HandoffContext",
    handoff("HandoffContext"),
    { handoffId: "h1", contentType: "text/plain", context: "" },
    { mode: HANDOFF }
  )
