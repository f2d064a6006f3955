import type { CompileLaunchResult } from "@runplane/api"
import { describeSqlError } from "@runplane/database"
import { longestSuspendMs, turnSeat } from "@runplane/domain"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import { invalidConfig, itemsFull } from "../common/LaunchErrors.ts"
import type { PeopleShape } from "./People.ts"
import { DATABASE_SETTING } from "./PeopleDatabase.ts"
import type { NewSeat } from "./SeatRows.ts"

/** How long the session of a launch can last: its time, and the suspensions in which it waits for people. */
export const longestLifeMs = ({ initiator, people = {}, runDescriptor }: CompileLaunchResult): number => {
  const isSuspended = Object.values(people).some(({ wait }) => wait === "suspend")
  const suspendedMs = isSuspended ? longestSuspendMs(initiator?.sessionStart.maxSuspendMs) : 0
  return runDescriptor.session.ttlMs + suspendedMs
}

/** The seats of a launch. */
export const launchedSeats = (people: PeopleShape | undefined) => ({
  /** Adds the seats before an agent starts, so that the first message already finds them. A repeated one adds none. */
  add: Effect.fnUntraced(function* (compiled: CompileLaunchResult, requester: string | undefined) {
    const { a2a = {}, display, people: rules = {}, runDescriptor, sessionId } = compiled
    const seats = Object.keys(rules)
    const remotes = Object.keys(a2a)
    if (seats.length + remotes.length === 0) return
    if (people === undefined) return yield* invalidConfig(`${DATABASE_SETTING} is not set: no seat can be added`)
    const modeName = runDescriptor.session.modeName
    const { scenarioRef } = display
    const common = { sessionId, modeName, scenarioRef, requester }
    const added: ReadonlyArray<NewSeat> = [
      ...Object.entries(rules).map(([seat, own]) => ({ ...common, seat, rules: own, seats })),
      // Agents that speak A2A wait neither for people nor for each other.
      ...Object.entries(a2a).map(([seat, { agent, rules }]) => ({
        ...{ ...common, seat, agent, rules: turnSeat(rules), seats: [...seats, ...remotes] }
      }))
    ]
    const shortage = yield* Effect.mapError(people.limits.shortage(added), unusable)
    if (shortage !== undefined) return yield* itemsFull(shortage)
    yield* Effect.mapError(people.runner.add(added), unusable)
  }),

  /** The launch has failed: the seats of a session that never opens are closed. */
  abandon: ({ a2a, people: rules, sessionId }: CompileLaunchResult) =>
    people === undefined || (rules === undefined && a2a === undefined) ? Effect.void : people.runner.abandon(sessionId)
})

const unusable = (error: SqlError) =>
  invalidConfig(`${DATABASE_SETTING}: the seats of the launch cannot be stored: ${describeSqlError(error)}`)
