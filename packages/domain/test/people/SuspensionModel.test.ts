import { assert, describe, it } from "@effect/vitest"
import {
  planSuspension,
  type StoredItem,
  SUSPENSION_PAUSES,
  type SuspensionAct,
  type SuspensionState
} from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { pick } from "../support/arbitraries.ts"
import { proposes, rulesOf, START, starts, viewOf, votes } from "./seatSessions.ts"

/** `alike`: another party, between a row of the service that was killed before its call and the next reading of it. */
type Party = "service" | "other" | "alike"

/** A session of a runtime: it knows who has suspended it, and says so to no caller. */
class ModelSession {
  state = "OPEN"
  expiresAtUnixMs = START + 600_000
  suspendedBy: Party | undefined
  suspendedAt = 0

  suspend(by: Party, now: number): boolean {
    if (this.state !== "OPEN") return false
    this.state = "SUSPENDED"
    this.suspendedBy = by
    this.suspendedAt = now
    return true
  }

  resume(now: number): boolean {
    if (this.state !== "SUSPENDED") return false
    this.expiresAtUnixMs += now - this.suspendedAt
    this.state = "OPEN"
    this.suspendedBy = undefined
    return true
  }

  end() {
    this.state = "CANCELLED"
    this.suspendedBy = undefined
  }
}

const SEATS = ["one", "two"] as const
const RULES = rulesOf({ wait: "suspend" })
const VIEW = viewOf([starts(["lead", "a", ...SEATS]), proposes(), votes("lead"), votes("a")])

/** Where a process is killed: before the call, right before it, after it, or not at all. */
type Kill = "planned" | "called" | "made" | undefined

/** The service around the plan: rows of acts and items, and an outbox that sends what is answered. */
class ModelService {
  now = START + 100_000
  acts: ReadonlyArray<SuspensionAct> = []
  items: ReadonlyArray<StoredItem> = SEATS.map((id) => ({
    id,
    subject: 2,
    state: "open",
    basisOrdinal: 4,
    deadlineUnixMs: undefined,
    answer: undefined
  }))
  accepted: ReadonlyArray<string> = []
  /** A row without a result: the service was killed right before its call. */
  isUnmade = false
  said: SuspensionState = { _tag: "open" }
  readonly session = new ModelSession()

  private become(id: string, from: StoredItem["state"], to: StoredItem["state"]) {
    this.items = this.items.map((one) => (one.id === id && one.state === from ? { ...one, state: to } : one))
  }

  answer(id: string) {
    this.become(id, "open", "answered")
  }

  /** One pass of the outbox of a seat, whose message is accepted once. */
  deliver(id: string) {
    const item = this.items.find((one) => one.id === id)
    if (item?.state !== "answered" || this.session.state === "SUSPENDED") return
    if (this.session.state !== "OPEN") return this.become(id, "answered", "refused")
    this.accepted = [...this.accepted, id]
    this.become(id, "answered", "accepted")
  }

  private add(act: Pick<SuspensionAct, "kind" | "by"> & Partial<SuspensionAct>): number {
    const n = this.acts.length + 1
    const { expiresAtUnixMs } = this.session
    const stored = { n, expiresAtUnixMs, atUnixMs: this.now, isCalled: false, outcome: undefined, reason: undefined }
    this.acts = [...this.acts, { ...stored, ...act }]
    return n
  }

  private change(n: number, change: Partial<SuspensionAct>) {
    this.acts = this.acts.map((one) => (one.n === n ? { ...one, ...change } : one))
  }

  /** Works on the session until it rests, or until it is killed. */
  work(kill: Kill) {
    for (let round = 0; round < 20; round += 1) {
      const seats = SEATS.map((id) => ({ id, rules: RULES, items: this.items.filter((one) => one.id === id) }))
      const session = {
        view: VIEW,
        sessionRules: undefined,
        now: this.session,
        seats,
        acts: this.acts,
        pauses: SUSPENSION_PAUSES
      }
      const { state, step } = planSuspension(session, this.now)
      this.said = state
      if (step._tag === "rest") return
      if (step._tag === "settle") {
        this.isUnmade = false
        this.change(step.n, { outcome: step.outcome })
      }
      if (step._tag === "observe") this.add({ kind: step.kind, by: "other", isCalled: true, outcome: "done" })
      if (step._tag === "call" && this.call(step.kind, kill)) return
    }
    throw new Error("the plan does not come to rest")
  }

  /** True when the process is killed. */
  private call(kind: SuspensionAct["kind"], kill: Kill): boolean {
    assert.notInclude(
      this.acts.map(({ outcome }) => outcome),
      undefined,
      "two calls at a time"
    )
    const n = this.add({ kind, by: "service" })
    if (kill === "planned") return true
    this.change(n, { isCalled: true })
    if (kill === "called") {
      this.isUnmade = kind === "suspend"
      return true
    }
    if (kind === "resume") assert.notStrictEqual(this.session.suspendedBy, "other")
    const isDone = kind === "suspend" ? this.session.suspend("service", this.now) : this.session.resume(this.now)
    if (kill === "made") return true
    this.change(n, { outcome: isDone ? "done" : "refused", reason: isDone ? undefined : "SESSION_NOT_OPEN" })
    return false
  }
}

const KINDS = ["work", "work", "work", "killed", "other suspends", "other resumes", "answer", "deliver", "time", "end"]
const KILLS: ReadonlyArray<Kill> = ["planned", "called", "made"]

const step = (service: ModelService, kind: string, by: number) => {
  const { session } = service
  const seat = SEATS[by % 2] ?? "one"
  // Two changes of a session are never in the same millisecond.
  service.now += 1
  switch (kind) {
    case "work":
      return service.work(undefined)
    case "killed":
      return service.work(KILLS[by % 3])
    case "other suspends":
      return void session.suspend(service.isUnmade ? "alike" : "other", service.now)
    case "other resumes":
      return void session.resume(service.now)
    case "answer":
      return service.answer(seat)
    case "deliver":
      return service.deliver(seat)
    case "time":
      service.now += by * 100
      return
    case "end":
      if (by % 20 === 0) session.end()
  }
}

describe("the suspension of a session, whatever happens", () => {
  const number = Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 999 })))
  const steps = Arbitrary.array(Arbitrary.all({ kind: pick(KINDS), by: number }), { maxLength: 60 })

  it.prop(
    "undoes no suspension of another party, delivers each answer once, and loses none",
    { steps },
    ({ steps }) => {
      const service = new ModelService()
      for (const { by, kind } of steps) {
        step(service, kind, by)
        assert.strictEqual(new Set(service.accepted).size, service.accepted.length)
      }
      const { session } = service
      const pass = () => {
        service.now += SUSPENSION_PAUSES.callMs + 60_000
        service.work(undefined)
        for (const id of SEATS) service.deliver(id)
      }
      for (let round = 0; round < 6; round += 1) pass()
      const isHeld = service.said._tag === "held"
      if (session.suspendedBy === "other") assert.isTrue(isHeld)
      if (session.suspendedBy === "service") assert.isFalse(isHeld)
      const waiting = service.items.filter(({ state }) => state === "answered")
      // An answer waits for the other party alone, and its item says so.
      if (waiting.length > 0) assert.isTrue(isHeld)
      if (isHeld) {
        session.resume(service.now)
        for (let round = 0; round < 6; round += 1) pass()
      }
      const states = service.items.map(({ state }) => state)
      assert.notInclude(states, "answered")
      if (session.state === "OPEN") assert.notInclude(states, "open", "a session that waits for a person alone is open")
      if (session.state === "SUSPENDED") {
        assert.notStrictEqual(session.suspendedBy, "other")
        assert.strictEqual(service.said._tag, "suspended")
        assert.include(states, "open")
      }
    },
    { arbitrary: { runs: 3_000, size: 100 } }
  )
})
