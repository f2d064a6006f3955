import type { CanonicalEvent } from "@runplane/domain"
import { type Mark, markOf } from "../view/Marks.ts"
import { type Phase, PhaseList } from "../view/Phases.ts"

/** Capacity in marks; beyond it the older half is dropped. The strip is some hundred pixels wide. */
const MOST_MARKS = 20_000

/** A few numbers of every event of a run of any length: seq, time, phases and marks. */
export class RunDigest {
  readonly times: Array<number> = []
  readonly seqs: Array<number> = []
  readonly #phases = new PhaseList()
  #marks: Array<Mark> = []

  add(event: CanonicalEvent): void {
    this.times.push(Date.parse(event.ts))
    this.seqs.push(event.seq)
    this.#phases.add(event)
    const mark = markOf(event)
    if (mark === undefined) return
    if (this.#marks.length >= MOST_MARKS) this.#marks = this.#marks.slice(MOST_MARKS / 2)
    this.#marks.push(mark)
  }

  get marks(): ReadonlyArray<Mark> {
    return this.#marks.slice()
  }

  get phases(): ReadonlyArray<Phase> {
    return this.#phases.phases.slice()
  }
}
