import type { SeatText, SuspensionAct } from "@runplane/domain"
import { ParticipantClient } from "@runplane/runtime"
import { createDatabase, until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { Answers } from "../../../src/people/Answers.ts"
import { Inbox } from "../../../src/people/Inbox.ts"
import { type ItemRow, ItemRows } from "../../../src/people/ItemRows.ts"
import { layerPeopleDatabase } from "../../../src/people/PeopleDatabase.ts"
import type { NewSeat } from "../../../src/people/SeatRows.ts"
import { SeatRunner } from "../../../src/people/SeatRunner.ts"
import { SeatWork } from "../../../src/people/SeatWork.ts"
import { SuspensionTimes } from "../../../src/people/suspend/SuspensionPlans.ts"
import { SuspensionRows } from "../../../src/people/suspend/SuspensionRows.ts"
import { layerPersons } from "../SeatNames.ts"
import { ana, DECISION, layerSeats, propose, SEAT, say, vote } from "../SeatStage.ts"

/** A second seat of the session. */
export const AUDITOR = "auditor"

/** Shorter than those of a service. */
export const SHORT_PAUSES = { reactionMs: 100, agentsMs: 700, callMs: 1_500 }

/** A database of its own for seats at a runtime. */
export const makeWorldAt = Effect.fnUntraced(function* (runtime: string) {
  const url = yield* createDatabase
  return {
    runtime,
    url,
    /** The service of seats. Each one is a new process to the rows and to the runtime. */
    layer: () =>
      layerSeats(layerPeopleDatabase({ url }), runtime).pipe(
        Layer.provide(Layer.succeed(SuspensionTimes, SHORT_PAUSES))
      ),
    /** The rows alone, while no service runs. */
    rows: () =>
      SeatWork.layer.pipe(
        Layer.provide(layerPersons()),
        Layer.provideMerge(layerPeopleDatabase({ url })),
        Layer.merge(ParticipantClient.layerGrpc({ address: runtime }))
      )
  }
})

export const seatsOf = (
  sessionId: string,
  rules: Readonly<Record<string, Partial<SeatText>>>
): ReadonlyArray<NewSeat> =>
  Object.entries(rules).map(([seat, own]) => ({
    sessionId,
    seat,
    modeName: DECISION,
    scenarioRef: "test/people@1.0.0",
    rules: { assign: [`person:${seat}`], when: "proposed", wait: "suspend", ...own },
    seats: Object.keys(rules),
    requester: "rita"
  }))

/** A session in which the agents have voted, so that only the seats are left. */
export const waitForPeople = Effect.fnUntraced(function* (
  sessionId: string,
  rules: Readonly<Record<string, Partial<SeatText>>>,
  { maxSuspendMs = 0, ttlMs = 600_000 }: { readonly maxSuspendMs?: number; readonly ttlMs?: number } = {}
) {
  yield* Effect.flatMap(SeatRunner, ({ add }) => add(seatsOf(sessionId, rules)))
  yield* openFor(sessionId, Object.keys(rules), { maxSuspendMs, ttlMs })
})

/** The agents of a session open it, propose and vote. */
export const openFor = Effect.fnUntraced(function* (
  sessionId: string,
  seats: ReadonlyArray<string>,
  { maxSuspendMs = 0, ttlMs = 600_000 }: { readonly maxSuspendMs?: number; readonly ttlMs?: number } = {}
) {
  yield* say(sessionId, "lead", "SessionStart", "macp.v1.SessionStartPayload", {
    intent: "test",
    participants: ["lead", "a", ...seats],
    modeVersion: "1.0.0",
    configurationVersion: "c1",
    ttlMs: `${ttlMs}`,
    maxSuspendMs: `${maxSuspendMs}`
  })
  yield* propose(sessionId)
  yield* vote(sessionId, "lead")
  yield* vote(sessionId, "a")
})

const lead = Effect.map(ParticipantClient, (client) => client.as(Redacted.make("lead")))

/** The session as its initiator reads it. */
export const sessionOf = (sessionId: string) => Effect.flatMap(lead, (calls) => calls.getSession(sessionId))

export const stateWhen = (sessionId: string, state: string) =>
  until(sessionOf(sessionId), (session) => session.state === state)

/** Another party with the right to suspend: the initiator itself. */
export const suspendAsOther = (sessionId: string) =>
  Effect.flatMap(lead, (calls) => calls.suspendSession({ sessionId, reason: "maintenance" }))
export const resumeAsOther = (sessionId: string) =>
  Effect.flatMap(lead, (calls) => calls.resumeSession({ sessionId, reason: "maintenance is over" }))

/** The item of a seat, once it is in a state. */
export const itemOf = (sessionId: string, state: ItemRow["state"], seat = SEAT) =>
  Effect.flatMap(ItemRows, ({ ofSeat }) =>
    Effect.map(
      until(ofSeat(sessionId, seat), (items) => items.at(-1)?.state === state),
      (items): ItemRow => {
        const item = items.at(-1)
        if (item === undefined) throw new Error("no item")
        return item
      }
    )
  )

const person = (seat: string) => ({ ...ana, id: seat })

/** The person of a seat answers its open item. */
export const answerFor = Effect.fnUntraced(function* (sessionId: string, seat = SEAT) {
  const item = yield* itemOf(sessionId, "open", seat)
  const runner = yield* SeatRunner
  const view = yield* until(
    Effect.sync(() => runner.sessionOf(sessionId, seat)?.view),
    (read) => read !== undefined && read.messages.length >= (item.basisOrdinal ?? 0)
  )
  const last = view?.messages.at(-1)
  const submitted = {
    content: { act: "reject", reason: "the loss is not covered" } as const,
    proposalHash: item.proposalHash,
    basis: { ordinal: last?.ordinal ?? 0, sha256: last?.digest ?? "" }
  }
  yield* Effect.flatMap(Answers, ({ submit }) => submit(item.id, person(seat), submitted))
  return item
})

/** What the person of a seat reads of the suspension, once it is as wanted. */
export const textWhen = (sessionId: string, wanted: RegExp, seat = SEAT) =>
  Effect.gen(function* () {
    const inbox = yield* Inbox
    const items = yield* ItemRows
    const read = Effect.gen(function* () {
      const id = (yield* items.ofSeat(sessionId, seat)).at(-1)?.id
      return id === undefined ? "" : ((yield* inbox.show(person(seat), id))?.suspension ?? "")
    })
    return yield* until(read, (text) => wanted.test(text))
  })

export const actsOf = (sessionId: string) => Effect.flatMap(SuspensionRows, ({ of }) => of(sessionId))

/** Acts in short, such as "service suspend done". */
export const inShort = (acts: ReadonlyArray<SuspensionAct>) =>
  acts.map(({ by, kind, outcome }) => `${by} ${kind} ${outcome}`)
