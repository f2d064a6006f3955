import type { CanonicalEvent } from "@runplane/domain"
import { type Mark, markOf } from "../view/Marks.ts"
import { type Phase, PhaseList } from "../view/Phases.ts"

/** Marks that are kept; of more the older half is dropped. The strip is some hundred pixels wide. */
const MOST_MARKS = 20_000

/** What is kept of every event of a run, however long it is: its place in the log and in time, and what stands out. */
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

  /** As they are now. */
  get marks(): ReadonlyArray<Mark> {
    return this.#marks.slice()
  }

  /** As they are now. */
  get phases(): ReadonlyArray<Phase> {
    return this.#phases.phases.slice()
  }
}
