import { type CanonicalEvent, eventTime, OTLP_RUNTIME_KIND, spanTimes } from "@runplane/domain"
import { type KeyEvent, keyEventOf } from "../view/run/KeyEvents.ts"
import { type Phase, PhaseList } from "../view/run/Phases.ts"

/** Capacity in key events; beyond it the older half is dropped. The strip is some hundred pixels wide. */
const MOST_KEY_EVENTS = 20_000

/** A few numbers of every event of a run of any length: seq, time, phases and key events. */
export class RunDigest {
  readonly times: Array<number> = []
  readonly seqs: Array<number> = []
  readonly #phases = new PhaseList()
  #isIngested = false
  /** Number of first events without a time of their own. */
  #untimed = 0
  #keyEvents: Array<KeyEvent> = []

  add(event: CanonicalEvent): void {
    if (event.type === "run.created") this.#isIngested = event.data.runtimeKind === OTLP_RUNTIME_KIND
    this.times.push(this.#timeOf(event))
    this.seqs.push(event.seq)
    this.#phases.add(event)
    const keyEvent = keyEventOf(event)
    if (keyEvent === undefined) return
    if (this.#keyEvents.length >= MOST_KEY_EVENTS) this.#keyEvents = this.#keyEvents.slice(MOST_KEY_EVENTS / 2)
    this.#keyEvents.push(keyEvent)
  }

  /** An ingested run arrives after its spans: what is not of a span has the time of the event before it. */
  #timeOf(event: CanonicalEvent): number {
    const time = Date.parse(eventTime(event))
    if (!this.#isIngested) return time
    if (spanTimes(event) === undefined) {
      if (this.#untimed === this.times.length) this.#untimed += 1
      return this.times.at(-1) ?? time
    }
    this.times.fill(time, 0, this.#untimed)
    this.#untimed = 0
    return time
  }

  get keyEvents(): ReadonlyArray<KeyEvent> {
    return this.#keyEvents.slice()
  }

  get phases(): ReadonlyArray<Phase> {
    return this.#phases.phases.slice()
  }
}
