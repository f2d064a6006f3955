import * as PgClient from "@effect/sql-pg/PgClient"
import { type Assigned, openingOf, type Reached, reachOf, type SeatRules, unreachedText } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { AssigneeRows } from "../AssigneeRows.ts"
import { ItemRows } from "../ItemRows.ts"
import { RecordRows } from "../RecordRows.ts"
import type { SeatSession } from "../SeatSession.ts"
import { DelegationRows } from "./DelegationRows.ts"
import { EscalationRows } from "./EscalationRows.ts"
import { Persons } from "./Persons.ts"

/** Escalations of items. They add who may answer, and are made while the seat is locked. */
export class Escalations extends Context.Service<Escalations, Effect.Success<typeof make>>()(
  "runplane/launcher/Escalations"
) {
  static readonly layer = Layer.effect(
    Escalations,
    Effect.suspend(() => make)
  )
}

type Of = Pick<SeatSession, "row" | "rules">

const make = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const items = yield* ItemRows
  const assignees = yield* AssigneeRows
  const delegations = yield* DelegationRows
  const rows = yield* EscalationRows
  const records = yield* RecordRows
  const persons = yield* Persons

  const assignedOf = Effect.fnUntraced(function* ({ row, rules }: Of, item: string) {
    const added = yield* assignees.of(item)
    const assigned: Assigned = {
      assign: [...rules.assign, ...added.flatMap(({ assignee }) => assignee ?? [])],
      distinctFrom: rules.distinctFrom,
      requester: row.requester,
      answeredBy: yield* items.answeredBy(row.sessionId, row.seat)
    }
    return assigned
  })

  /** Makes a step, once. */
  const make = Effect.fnUntraced(function* (of: Of, item: string, step: number, cause: "time" | "delegation") {
    const { to } = stepOf(of.rules, step)
    const reached = reachOf(to, yield* persons.known(of.row.scenarioRef), yield* assignedOf(of, item))
    const text = unreachedText(reached)
    const why = text && bounded(text)
    const isNew = yield* rows.add({ item, step, to, cause, reach: reached.reach, why })
    if (!isNew) return
    for (const assignee of to) {
      yield* assignees.add(item, { assignee, addedBy: "service", reason: "", step })
    }
    yield* records.noteEscalation(item, "escalated", escalationOf(step, to, cause, reached))
    yield* items.audit("service", "item.escalated", item, {
      ...{ step: step + 1, to, cause, reach: reached.reach },
      ...(why !== undefined && { why })
    })
  })

  return {
    make,

    /** What the opening of an item shows: steps without a person, and delegations to persons who may not answer. */
    opened: Effect.fnUntraced(function* (of: Of, item: string) {
      const { row, rules } = of
      const { scenarioRef } = row
      const assigned = yield* assignedOf(of, item)
      const known = yield* persons.known(scenarioRef)
      const received = yield* delegations.bearingOn(assigned.assign, scenarioRef)
      const unixMs = yield* items.now
      const { refused, step, unreachable } = openingOf(rules, known, assigned, received, { scenarioRef, unixMs })
      for (const { reached, step } of unreachable) {
        const { to } = stepOf(rules, step)
        yield* records.noteEscalation(item, "unreachable", escalationOf(step, to, "time", reached))
        yield* items.audit("service", "item.unreachable", item, {
          ...{ step: step + 1, to, reach: reached.reach },
          ...{ why: unreachedText(reached) ?? "" }
        })
      }
      for (const { delegation, right } of refused) {
        const { by, id, to } = delegation
        yield* items.audit("service", "delegation.refused", item, { delegation: id, by: by.id, to, why: right })
      }
      if (step !== undefined) return yield* make(of, item, step, "delegation")
      if (refused.length > 0) {
        const none = { cause: "delegation", to: [], reach: "none", why: NO_STEP } as const
        yield* records.noteEscalation(item, "unreachable", none)
        yield* items.audit("service", "item.unreachable", item, { reach: "none", why: NO_STEP })
      }
    }, sql.withTransaction)
  }
})

const NO_STEP = "a delegation is to a person who may not answer, and the seat has no step of escalation"

const stepOf = ({ escalate }: SeatRules, step: number) => {
  const found = escalate[step]
  if (found === undefined) throw new Error(`the seat has no step ${step + 1}`)
  return found
}

/** Characters of a reason in a record. */
const MAX_WHY = 1_000

const bounded = (why: string): string => why.slice(0, MAX_WHY).toWellFormed()

/** The step as records have it: counted from 1 on. */
const escalationOf = (step: number, to: ReadonlyArray<string>, cause: "time" | "delegation", reached: Reached) => {
  const why = unreachedText(reached)
  return { step: step + 1, to, cause, reach: reached.reach, ...(why !== undefined && { why: bounded(why) }) }
}
