import { type CanonicalEvent, eventTime } from "@runplane/domain"
import { type KeyEvent, keyEventOf } from "../view/KeyEvents.ts"
import { type Phase, PhaseList } from "../view/Phases.ts"

/** Capacity in key events; beyond it the older half is dropped. The strip is some hundred pixels wide. */
const MOST_KEY_EVENTS = 20_000

/** A few numbers of every event of a run of any length: seq, time, phases and key events. */
export class RunDigest {
  readonly times: Array<number> = []
  readonly seqs: Array<number> = []
  readonly #phases = new PhaseList()
  #keyEvents: Array<KeyEvent> = []

  add(event: CanonicalEvent): void {
    this.times.push(Date.parse(eventTime(event)))
    this.seqs.push(event.seq)
    this.#phases.add(event)
    const keyEvent = keyEventOf(event)
    if (keyEvent === undefined) return
    if (this.#keyEvents.length >= MOST_KEY_EVENTS) this.#keyEvents = this.#keyEvents.slice(MOST_KEY_EVENTS / 2)
    this.#keyEvents.push(keyEvent)
  }

  get keyEvents(): ReadonlyArray<KeyEvent> {
    return this.#keyEvents.slice()
  }

  get phases(): ReadonlyArray<Phase> {
    return this.#phases.phases.slice()
  }
}
