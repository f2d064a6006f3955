import { assert, describe, it } from "@effect/vitest"
import type { RunStatus, RuntimeSessionState } from "@runplane/domain"
import type { Message } from "../../../src/observe/decide/Input.ts"
import { type Adoption, writesBefore } from "../../../src/observe/decide.ts"
import {
  answer,
  aRun,
  check,
  ended,
  failure,
  frames,
  identity,
  session,
  state,
  Trial,
  unreachable
} from "./support/Trial.ts"

describe("a run that is adopted", () => {
  const EXPECTED: Readonly<Record<Adoption, Readonly<Record<string, ReadonlyArray<string>>>>> = {
    created: { binding_session: ["Run"] },
    recovered: {
      binding_session: ["Run", "Recovered"],
      running: ["Recovered"],
      suspended: ["Recovered"]
    },
    restarted: { binding_session: ["Run"] }
  }
  for (const adoption of ["created", "recovered", "restarted"] as const) {
    for (const status of ["queued", "starting", "binding_session", "running", "suspended"] as const) {
      const expected = EXPECTED[adoption][status] ?? []
      it(`that is ${status} and ${adoption}: writes ${expected.join(" and ") || "nothing"}`, () => {
        assert.deepStrictEqual(
          writesBefore(aRun({ status }), adoption).map((write) => write._tag),
          expected
        )
      })
    }
  }
})

/** Random numbers that come again with their seed. */
const dice = (seed: number) => {
  let value = seed
  return (sides: number) => {
    value = (Math.imul(value, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((value / 2 ** 32) * sides)
  }
}

const STATES: ReadonlyArray<RuntimeSessionState> = [
  "UNSPECIFIED",
  "OPEN",
  "OPEN",
  "SUSPENDED",
  "RESOLVED",
  "EXPIRED",
  "CANCELLED"
]
const ERRORS = [
  failure("UNAVAILABLE"),
  failure("NOT_FOUND"),
  failure("RESOURCE_EXHAUSTED"),
  failure("FAILED_PRECONDITION", "history before ordinal 3 was compacted"),
  failure("PERMISSION_DENIED")
]
const QUESTIONS = ["opened", "ended", "paused", "reconnect"] as const

/** Any message, whether or not it is expected. */
const anything = (roll: (sides: number) => number): Message => {
  const one = <A>(items: ReadonlyArray<A>, fallback: A): A => items[roll(items.length)] ?? fallback
  const snapshot = session(one(STATES, "OPEN"), roll(3) === 0 ? undefined : roll(6), { expiresAtUnixMs: roll(200_000) })
  const error = one(ERRORS, failure("INTERNAL"))
  switch (roll(12)) {
    case 0:
    case 1:
      return frames(1 + roll(4), ...Array.from({ length: roll(4) }, () => `m${roll(9)}`))
    case 2:
      return frames(1 + roll(4), one(["!RATE_LIMITED", "c=Commitment", "s=SessionCancel", "m1@another"], "m1"))
    case 3:
      return ended(1 + roll(4), roll(2) === 0 ? undefined : error)
    case 4:
      return roll(4) === 0 ? unreachable("UNAVAILABLE") : identity()
    case 5:
      return state(snapshot)
    case 6:
      return check
    case 7:
      return roll(20) === 0 ? { _tag: "Behind", cursor: roll(9) } : { _tag: "Tick" }
    case 8:
      return { _tag: "Summary", summary: undefined }
    default:
      return answer(one(QUESTIONS, "ended"), roll(3) === 0 ? error : snapshot)
  }
}

describe("an observation", () => {
  it("decides on anything, ends once, and until then waits for an alarm or an answer", () => {
    const over = new Map<string, number>()
    for (let seed = 1; seed <= 300; seed++) {
      const roll = dice(seed)
      const status = (["queued", "starting", "running", "suspended"] as const)[roll(4)] ?? "queued"
      const trial = new Trial({ status }, { streamMaxRetries: roll(3) }, roll(100) / 100)
      const lines = [...trial.start()]
      for (let step = 0; step < 80; step++) {
        lines.push(...trial.receive(anything(roll)), ...trial.wait(roll(3_000)))
        assert.isTrue(trial.isOver || trial.isQuerying || trial.wakeAt !== undefined, `seed ${seed}, step ${step}`)
      }
      const finished = lines.filter((line) => line === "finish").length
      assert.strictEqual(finished, trial.isOver ? 1 : 0, `seed ${seed}`)
      assert.isAtMost(lines.filter((line) => /^(end|fail) /.test(line)).length, 1, `seed ${seed}`)
      if (trial.isOver) {
        assert.strictEqual(lines.at(-1), "finish", `seed ${seed}`)
        over.set(trial.status, (over.get(trial.status) ?? 0) + 1)
      }
    }
    // Every way to end has been tried.
    for (const end of ["completed", "failed", "cancelled"] satisfies Array<RunStatus>) {
      assert.isAbove(over.get(end) ?? 0, 10, end)
    }
  })
})
