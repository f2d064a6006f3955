import { type ItemState, type Person, standingOf } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { AssigneeRows } from "../AssigneeRows.ts"
import { DelegationRows } from "../escalate/DelegationRows.ts"
import { ItemRows } from "../ItemRows.ts"
import { RecordRows } from "../RecordRows.ts"
import { SeatRows } from "../SeatRows.ts"
import { SeatWork } from "../SeatWork.ts"
import { QuestionRows } from "./QuestionRows.ts"

/** Why a question is not stored. */
export class QuestionRefused extends Data.TaggedError("QuestionRefused")<{
  readonly why:
    | { readonly _tag: "no-item" }
    | { readonly _tag: "not-assigned" }
    | { readonly _tag: "not-open" }
    | { readonly _tag: "closed"; readonly state: ItemState }
    | { readonly _tag: "too-many"; readonly perMinute: number }
    | { readonly _tag: "full"; readonly most: number }
}> {}

/** Questions of a person. */
export const QUESTIONS_PER_MINUTE = 30
/** Questions about one item: all of them are shown with it. */
export const MOST_QUESTIONS = 100

/** Questions of assigned persons to the agents: an artifact of the run each, and no act in the session. */
export class Questions extends Context.Service<Questions, Effect.Success<typeof make>>()(
  "runplane/launcher/Questions"
) {
  static readonly layer = Layer.effect(
    Questions,
    Effect.suspend(() => make)
  ).pipe(Layer.provide([AssigneeRows.layer, QuestionRows.layer]))
}

const make = Effect.gen(function* () {
  const seats = yield* SeatRows
  const items = yield* ItemRows
  const assignees = yield* AssigneeRows
  const delegations = yield* DelegationRows
  const questions = yield* QuestionRows
  const records = yield* RecordRows
  const work = yield* SeatWork

  const refuse = (why: QuestionRefused["why"]) => Effect.fail(new QuestionRefused({ why }))

  const add = Effect.fnUntraced(function* (id: string, person: Person, text: string) {
    const at = yield* items.seatOf(id)
    const seat = at && (yield* seats.lock(at.sessionId, at.seat))
    const item = yield* items.byId(id)
    if (at === undefined || seat === undefined || item === undefined) return yield* refuse({ _tag: "no-item" })
    const added = yield* assignees.of(id)
    const assigned = {
      assign: [...seat.rules.assign, ...added.flatMap(({ assignee }) => assignee ?? [])],
      distinctFrom: seat.rules.distinctFrom,
      requester: seat.requester,
      answeredBy: yield* items.answeredBy(at.sessionId, at.seat)
    }
    const moment = { scenarioRef: seat.scenarioRef, unixMs: yield* items.now }
    const { right } = standingOf(person, assigned, yield* delegations.lockedFor(person.id), moment)
    if (right === "not assigned") return yield* refuse({ _tag: "not-assigned" })
    if (item.state === "waiting") return yield* refuse({ _tag: "not-open" })
    if (item.state !== "open") return yield* refuse({ _tag: "closed", state: item.state })
    if ((yield* questions.inLastMinute(person.id)) >= QUESTIONS_PER_MINUTE) {
      return yield* refuse({ _tag: "too-many", perMinute: QUESTIONS_PER_MINUTE })
    }
    if ((yield* questions.of(id)).length >= MOST_QUESTIONS) return yield* refuse({ _tag: "full", most: MOST_QUESTIONS })
    const question = yield* questions.add(id, person.id, text)
    yield* records.noteQuestion(id, question)
    yield* items.audit(person.id, "item.question", id, { question: question.id })
  })

  return {
    /** Stores a question with its record and its audit entry. Answers all questions about the item. */
    submit: Effect.fn("Questions.submit")(function* (id: string, person: Person, text: string) {
      yield* work.inTransaction(add(id, person, text))
      yield* records.wake
      return yield* questions.of(id)
    })
  }
})
