import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { ACTORS, ArchiveModel, DAYS, LATER, type LoggedRow } from "./support/ArchiveModel.ts"

const RUNS = ["a", "b", "c", "d", "e"]

/** What happens next; `number` decides how. Steps of processes are more frequent than all else. */
const Happening = Schema.Struct({
  what: Schema.Literals([
    ...(["step", "step", "step", "step", "steps", "append", "append", "advance"] as const),
    ...(["kill", "cut", "delete", "expire", "midnight"] as const)
  ]),
  number: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 999 }))
})
type Happening = typeof Happening.Type

const happenings = Arbitrary.array(Arbitrary.schema(Happening), { minLength: 40, maxLength: 250 })

const at = <A>(items: ReadonlyArray<A>, number: number): A => {
  const item = items[number % items.length]
  if (item === undefined) throw new Error("no items")
  return item
}

const happen = (model: ArchiveModel, { number, what }: Happening) => {
  const actor = at(ACTORS, number)
  const run = at(RUNS, number)
  switch (what) {
    case "step":
      return void model.step(actor)
    case "steps":
      for (let steps = 0; steps < number % 30; steps++) model.step(actor)
      return
    case "append":
      for (let rows = 0; rows <= number % 4; rows++) {
        model.append(at(RUNS, number + rows), at(DAYS, number >> 2), 1 + (number % 23), number % 7 === 0 ? 2 : 0)
      }
      return
    case "advance":
      return model.advance(number % 3)
    case "kill":
      return model.kill(actor)
    case "cut":
      return model.cut(actor)
    case "delete":
      return model.delete(run)
    case "expire":
      return model.expire(run)
    case "midnight":
      model.today = Math.min(model.today + 1, LATER)
      return
  }
}

/** No position is counted twice, and each event behind the position is counted, unless its run was deleted. */
const check = (model: ArchiveModel) => {
  const counts = new Map<number, number>()
  for (const { seq } of model.counted()) counts.set(seq, (counts.get(seq) ?? 0) + 1)
  for (const [seq, count] of counts) assert.strictEqual(count, 1, `${seq} is counted ${count} times`)
  for (const { run, seq } of model.history) {
    if (seq > model.position || model.tombstones.has(run)) continue
    assert.strictEqual(counts.get(seq), 1, `${seq} is missing`)
  }
}

const seqsOf = (rows: ReadonlyArray<LoggedRow>) => rows.map(({ seq }) => seq)

/** Files and rows of the database agree, and nothing waits. */
const checkEnd = (model: ArchiveModel) => {
  check(model)
  assert.strictEqual(model.position, model.watermark)
  assert.isUndefined(model.range)
  assert.isUndefined(model.merge)
  assert.sameMembers([...model.files.keys()], [...model.known.keys()])
  for (const [path, { day, from, rows, to }] of model.known) {
    const found = model.files.get(path) ?? []
    assert.strictEqual(found.length, rows, path)
    assert.isTrue(
      found.every((row) => row.day === day && row.seq >= from && row.seq <= to),
      path
    )
    assert.deepStrictEqual(
      seqsOf(found),
      seqsOf(found).toSorted((a, b) => a - b)
    )
  }
}

const play = (
  model: ArchiveModel,
  sequence: ReadonlyArray<Happening>,
  leaveOut: ReadonlyArray<Happening["what"]> = []
) => {
  for (const one of sequence) {
    if (leaveOut.includes(one.what)) continue
    happen(model, one)
    check(model)
  }
  model.recover()
}

describe("the archive under crashes, retries and processes that were replaced", () => {
  it.prop(
    "has each event behind its position exactly once, and after a recovery as the database names its files",
    [happenings],
    ([sequence]) => {
      const model = new ArchiveModel(true)
      play(model, sequence)
      checkEnd(model)
      // Once all days are closed, no row of a deleted run is left.
      model.advance(0)
      model.today = LATER
      model.recover()
      checkEnd(model)
      assert.isFalse(
        model.counted().some(({ run }) => model.tombstones.has(run)),
        "compaction of closed days erases deleted runs"
      )
    },
    { arbitrary: { runs: 1_500 }, timeout: 60_000 }
  )

  it("completes no range whose files another process has changed since the lock was lost", () => {
    const model = new ArchiveModel(true)
    model.append("a", DAYS[0], 1, 0)
    model.advance(0)
    const stepUntil = (actor: (typeof ACTORS)[number], isReached: () => boolean) => {
      for (let steps = 0; !isReached(); steps++) {
        assert.isBelow(steps, 100)
        model.step(actor)
      }
    }
    stepUntil("service", () => model.files.size === 1)
    model.cut("service")
    model.delete("a")
    stepUntil("other", () => model.files.size === 0)
    for (let steps = 0; steps < 3; steps++) model.step("service")
    model.recover()
    checkEnd(model)
    assert.strictEqual(model.known.size, 0)
  })

  // A write that is under way when the session ends reaches the store late.
  it.prop(
    "needs no lock while no run is deleted: a late writer replaces files by themselves",
    [happenings],
    ([sequence]) => {
      const model = new ArchiveModel(false)
      const leaveOut = ["delete", "expire", "midnight"] as const
      model.today = 0
      play(model, sequence, leaveOut)
      checkEnd(model)
    },
    { arbitrary: { runs: 1_500 }, timeout: 60_000 }
  )
})
