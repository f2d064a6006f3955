import { type ItemState, type Person, type Right, rightOf, standingOf } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { AssigneeRows } from "./AssigneeRows.ts"
import { DelegationRows } from "./escalate/DelegationRows.ts"
import { ItemRows } from "./ItemRows.ts"
import { RecordRows } from "./RecordRows.ts"
import { SeatRows } from "./SeatRows.ts"
import { SeatWork } from "./SeatWork.ts"

/** Why an item is not returned. */
export class ReturnRefused extends Data.TaggedError("ReturnRefused")<{
  readonly why:
    | { readonly _tag: "no-item" }
    | { readonly _tag: "not-assigned" }
    /** A delegate does not pass on what was delegated to it. */
    | { readonly _tag: "delegate"; readonly by: string }
    | { readonly _tag: "not-open" }
    | { readonly _tag: "closed"; readonly state: ItemState }
    | { readonly _tag: "full"; readonly most: number }
    /** The other person may not answer. */
    | { readonly _tag: "colleague"; readonly right: Exclude<Right, "answer"> }
}> {}

/** Returns of one item: all of them are shown with it. */
export const MOST_RETURNS = 100

/** An open item that a person gives back, or to a colleague. */
export interface Returned {
  /** `person:` or `group:` and an id; undefined: to those who are assigned already. */
  readonly to: string | undefined
  readonly reason: string
}

/** Returns of items: they add who may answer, and take nothing from a person who is assigned. */
export class Returns extends Context.Service<Returns, Effect.Success<typeof make>>()("runplane/launcher/Returns") {
  static readonly layer = Layer.effect(
    Returns,
    Effect.suspend(() => make)
  )
}

const PERSON = "person:"

const make = Effect.gen(function* () {
  const seats = yield* SeatRows
  const items = yield* ItemRows
  const assignees = yield* AssigneeRows
  const delegations = yield* DelegationRows
  const work = yield* SeatWork
  const records = yield* RecordRows

  const refuse = (why: ReturnRefused["why"]) => Effect.fail(new ReturnRefused({ why }))

  const add = Effect.fnUntraced(function* (id: string, person: Person, { reason, to }: Returned) {
    const at = yield* items.seatOf(id)
    const seat = at && (yield* seats.lock(at.sessionId, at.seat))
    const item = yield* items.byId(id)
    if (at === undefined || seat === undefined || item === undefined) return yield* refuse({ _tag: "no-item" })
    const added = yield* assignees.of(id)
    const rules = {
      assign: [...seat.rules.assign, ...added.flatMap(({ assignee }) => assignee ?? [])],
      distinctFrom: seat.rules.distinctFrom,
      requester: seat.requester,
      answeredBy: yield* items.answeredBy(at.sessionId, at.seat)
    }
    const moment = { scenarioRef: seat.scenarioRef, unixMs: yield* items.now }
    const standing = standingOf(person, rules, yield* delegations.lockedFor(person.id), moment)
    if (standing.right === "not assigned") return yield* refuse({ _tag: "not-assigned" })
    if (standing.by !== undefined && to !== undefined) {
      return yield* refuse({ _tag: "delegate", by: standing.by.by.id })
    }
    if (item.state === "waiting") return yield* refuse({ _tag: "not-open" })
    if (item.state !== "open") return yield* refuse({ _tag: "closed", state: item.state })
    if (added.filter(({ step }) => step === undefined).length >= MOST_RETURNS) {
      return yield* refuse({ _tag: "full", most: MOST_RETURNS })
    }
    if (to?.startsWith(PERSON) === true) {
      const right = rightOf({ id: to.slice(PERSON.length), groups: [] }, { ...rules, assign: [to] })
      if (right !== "answer") return yield* refuse({ _tag: "colleague", right })
    }
    yield* assignees.add(id, { assignee: to, addedBy: person.id, reason })
    yield* records.noteReturned(id)
    yield* items.audit(person.id, "item.returned", id, to === undefined ? {} : { to })
  })

  return {
    /** Stores a return with its audit entry. */
    submit: Effect.fn("Returns.submit")((id: string, person: Person, returned: Returned) =>
      Effect.tap(work.inTransaction(add(id, person, returned)), () => records.wake)
    )
  }
})
