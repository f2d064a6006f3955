import {
  type Assigned,
  assignedAfter,
  type Delegation,
  type KnownPeople,
  openingOf,
  type Person,
  planSeat,
  reachOf,
  type SeatText,
  type StoredItem,
  standingOf,
  statedTime
} from "@runplane/domain"
import * as Result from "effect/Result"
import { proposes, rulesOf, SEAT, starts, viewOf } from "./seatSessions.ts"

export const SCENARIO = "demo/people@1.0.0"
/** When the question opens: 09:00 in Berlin on a day in winter. */
export const OPENED = Date.parse("2026-12-01T08:00:00Z")
export const HOUR = 3_600_000
export const DAY = 24 * HOUR

/** All persons of the model, with their groups. */
export const PERSONS: ReadonlyArray<Person> = [
  { id: "ana", groups: ["risk"] },
  { id: "bo", groups: ["risk"] },
  { id: "lea", groups: ["leads"] },
  { id: "cro", groups: [] },
  { id: "dee", groups: [] },
  { id: "eve", groups: [] },
  { id: "otto", groups: [] },
  { id: "rita", groups: ["board"] }
]

/** The instant of a text that a test writes. */
export const instant = (text: string): number => Result.getOrThrow(statedTime(text))

export const delegates = (by: string, to: string, more: Partial<Delegation> = {}): Delegation => ({
  id: `${by} to ${to}`,
  by: PERSONS.find(({ id }) => id === by) ?? { id: by, groups: [] },
  to,
  fromUnixMs: OPENED - DAY,
  untilUnixMs: OPENED + 30 * DAY,
  scenarios: undefined,
  revokedAtUnixMs: undefined,
  ...more
})

export interface Given {
  readonly rules?: Partial<SeatText>
  readonly delegations?: ReadonlyArray<Delegation>
  readonly requester?: string
  /** Persons who have answered for the other seat. */
  readonly otherSeat?: ReadonlyArray<string>
  readonly known?: Partial<KnownPeople>
  readonly openedAt?: number
  readonly returnedTo?: ReadonlyArray<string>
}

/** What is so at a moment: who may answer, the steps that were made, alerts, and what happens next. */
export interface Found {
  readonly who: ReadonlyArray<string>
  readonly steps: ReadonlyArray<number>
  readonly alerts: ReadonlyArray<string>
  readonly state: StoredItem["state"]
  readonly wakeAtUnixMs: number | undefined
}

/** The service around the pure rules, with a clock that jumps from one wake to the next. */
export const modelAt = (given: Given, unixMs: number): Found => {
  const rules = rulesOf({ when: "proposed", assign: ["group:risk"], ...given.rules })
  const seat = { id: SEAT, seats: new Set([SEAT]), rules, sessionRules: undefined }
  const view = viewOf([starts(), proposes()])
  const known: KnownPeople = { persons: PERSONS, elsewhere: undefined, isLocal: false, ...given.known }
  const delegations = given.delegations ?? []
  const alerts: Array<string> = []
  let item: StoredItem | undefined
  let steps: ReadonlyArray<number> = []
  let now = given.openedAt ?? OPENED
  let wakeAtUnixMs: number | undefined
  const assigned = (): Assigned => ({
    assign: [...assignedAfter(rules.assign, rules.escalate, steps), ...(given.returnedTo ?? [])],
    distinctFrom: rules.distinctFrom,
    requester: given.requester,
    answeredBy: new Map([["second", given.otherSeat ?? []]])
  })
  const escalate = (step: number) => {
    steps = [...steps, step]
    const { reach } = reachOf(rules.escalate[step]?.to ?? [], known, assigned())
    if (reach !== "persons") alerts.push(`step ${step + 1}: ${reach}`)
  }
  for (let round = 0; round < 100 && now <= unixMs; round += 1) {
    const stored = item && { ...item, escalated: steps }
    const plan = planSeat(view, seat, stored === undefined ? [] : [stored], { unixMs: now, ended: undefined })
    wakeAtUnixMs = plan.wakeAtUnixMs
    if (plan.changes.length === 0) {
      if (plan.wakeAtUnixMs === undefined || plan.wakeAtUnixMs > unixMs) break
      now = plan.wakeAtUnixMs
      continue
    }
    for (const change of plan.changes) {
      switch (change._tag) {
        case "create":
          item = {
            id: "i1",
            subject: 2,
            state: "waiting",
            basisOrdinal: undefined,
            deadlineUnixMs: undefined,
            answer: undefined
          }
          break
        case "open": {
          const { basisOrdinal, deadlineUnixMs } = change
          item = item && { ...item, state: "open", basisOrdinal, deadlineUnixMs, openedAtUnixMs: now }
          const moment = { scenarioRef: SCENARIO, unixMs: now }
          const { refused, step, unreachable } = openingOf(rules, known, assigned(), delegations, moment)
          for (const one of unreachable) alerts.push(`opens, step ${one.step + 1}: ${one.reached.reach}`)
          if (step !== undefined) escalate(step)
          else if (refused.length > 0) alerts.push("opens, no step")
          break
        }
        case "escalate":
          escalate(change.step)
          break
        case "close":
          item = item && { ...item, state: change.state }
          break
        case "answer":
          item = item && { ...item, state: "accepted" }
          break
        default:
          throw new Error(`unexpected ${change._tag}`)
      }
    }
  }
  const moment = { scenarioRef: SCENARIO, unixMs }
  const may = (person: Person) => standingOf(person, assigned(), delegations, moment)
  return {
    who:
      item?.state === "open"
        ? PERSONS.flatMap((person) => {
            const { by, right } = may(person)
            if (right !== "answer") return []
            return [by === undefined ? person.id : `${person.id} for ${by.by.id}`]
          })
        : [],
    steps: steps.map((step) => step + 1),
    alerts,
    state: item?.state ?? "waiting",
    wakeAtUnixMs: item?.state === "open" ? wakeAtUnixMs : undefined
  }
}
