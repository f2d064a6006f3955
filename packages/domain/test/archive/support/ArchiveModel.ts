import {
  type ArchiveRange,
  archivePath,
  currentFiles,
  fileChanges,
  firstOpenDay,
  leftOverFiles,
  type Merge,
  mayHold,
  pathsOf,
  planMerges,
  type Reading,
  readingOf,
  type SizedFile,
  supersededBy,
  takerOf,
  unknownFiles
} from "@runplane/domain"

/** An event of the log; its day stands for its time. */
export interface LoggedRow {
  readonly seq: number
  readonly run: string
  readonly day: string
  readonly bytes: number
}

export const CELL = "main"
export const DAYS = ["2026-11-24", "2026-11-25", "2026-11-26", "2026-11-27"] as const
/** `today` once all days are closed. */
export const LATER = DAYS.length
const CALENDAR: ReadonlyArray<string> = [...DAYS, "2026-11-28"]
const BOUNDS = { rows: 4, bytes: 40 }
const MERGED = { rows: 12, bytes: 1_000 }
const PAGE_ROWS = 3

export type Actor = "service" | "other" | "compaction"
export const ACTORS: ReadonlyArray<Actor> = ["service", "other", "compaction"]

/**
 * The log, the rows of the archive in the database, the files, and the processes on them. The processes decide by the
 * functions of the service; each `yield` is a moment at which they may be killed, paused, or overtaken.
 */
export class ArchiveModel {
  readonly log: Array<LoggedRow> = []
  /** Every event that has ever been in the log. */
  readonly history: Array<LoggedRow> = []
  readonly tombstones = new Set<string>()
  watermark = 0
  today = 2
  position = 0
  range: ArchiveRange | undefined
  merge: Merge | undefined
  readonly known = new Map<string, SizedFile>()
  readonly files = new Map<string, ReadonlyArray<LoggedRow>>()
  readonly #processes = new Map<Actor, Generator<"idle" | "busy">>()
  #locked: Actor | undefined
  #allocated = 0
  readonly #hasLock: boolean

  /** Without the lock every process works at any time, as if none had ever been replaced. */
  constructor(hasLock: boolean) {
    this.#hasLock = hasLock
  }

  append(run: string, day: string, bytes: number, gap: number) {
    this.#allocated += 1 + gap
    const row = { seq: this.#allocated, run, day, bytes }
    this.log.push(row)
    this.history.push(row)
  }

  /** Transactions end; positions without an event belong to those that were rolled back. */
  advance(gap: number) {
    this.#allocated += gap
    this.watermark = this.#allocated
  }

  delete(run: string) {
    if (!this.log.some((row) => row.run === run && row.seq <= this.watermark)) return
    this.tombstones.add(run)
    this.#remove(run)
  }

  /** Retention that requires the archive: all events of the run are in files. */
  expire(run: string) {
    if (this.log.every((row) => row.run !== run || row.seq <= this.position)) this.#remove(run)
  }

  #remove(run: string) {
    const kept = this.log.filter((row) => row.run !== run)
    this.log.splice(0, this.log.length, ...kept)
  }

  /** Runs the process up to its next step; starts one when there is none. */
  step(actor: Actor): "idle" | "busy" {
    let process = this.#processes.get(actor)
    if (process === undefined) {
      process = actor === "compaction" ? this.#compact(actor) : this.#write(actor)
      this.#processes.set(actor, process)
    }
    const { done, value } = process.next()
    if (done === true) this.kill(actor)
    return done === true ? "idle" : value
  }

  /** The session of a process ends with it, and its lock. */
  kill(actor: Actor) {
    this.#processes.delete(actor)
    this.cut(actor)
  }

  /** The database ends the session of a process that lives on. */
  cut(actor: Actor) {
    if (this.#locked === actor) this.#locked = undefined
  }

  /** Every process ends; new ones work until there is nothing left to do. */
  recover() {
    for (const actor of ACTORS) this.kill(actor)
    for (const actor of ["service", "compaction"] as const) {
      for (let steps = 0; this.step(actor) === "busy"; steps++) if (steps > 10_000) throw new Error(`${actor} hangs`)
      this.kill(actor)
    }
  }

  /** The rows that a reader counts. */
  counted(): ReadonlyArray<LoggedRow> {
    return currentFiles([...this.files.keys()]).flatMap((path) => this.files.get(path) ?? [])
  }

  /** Whether the step that follows may change a file. */
  #holds(actor: Actor) {
    return !this.#hasLock || this.#locked === actor
  }

  #acquire(actor: Actor) {
    if (!this.#hasLock) return true
    if (this.#locked !== undefined) return false
    this.#locked = actor
    return true
  }

  *#write(actor: Actor): Generator<"idle" | "busy", void> {
    while (!this.#acquire(actor)) yield "busy"
    const planned = [this.range, this.merge?.into].flatMap((one) =>
      one === undefined ? [] : "days" in one ? pathsOf(one) : [archivePath(one)]
    )
    const foreign = unknownFiles([...this.files.keys()], CELL, new Set([...this.known.keys(), ...planned]))
    if (foreign.length > 0 && this.#hasLock) throw new Error(`the writer refuses to start: ${foreign[0]} is unknown`)
    while (true) {
      while (!this.#holds(actor) && !this.#acquire(actor)) yield "busy"
      const { position, range: open } = this
      yield "busy"
      const mark = this.watermark
      if (open === undefined && mark <= position) {
        this.cut(actor)
        yield "idle"
        continue
      }
      const reading: Reading = open === undefined ? { after: position, to: mark, bounds: BOUNDS } : readingOf(open)
      const { days, end } = yield* this.#encode(reading)
      const range = open ?? { table: "events", cell: CELL, from: position + 1, to: end, days: [...days.keys()] }
      if (open === undefined && days.size === 0) {
        if (this.position === position) this.position = mark
      } else if (open !== undefined || this.#plan(position, range)) {
        yield "busy"
        const written = yield* this.#putFiles(actor, range, days)
        if (written === undefined || !this.#holds(actor)) return
        this.#complete(range, written)
      }
      this.cut(actor)
      yield "busy"
    }
  }

  *#encode(reading: Reading) {
    const taker = takerOf(reading)
    const days = new Map<string, Array<LoggedRow>>()
    let after = reading.after
    let isFull = false
    while (!isFull) {
      const page = this.log
        .filter(({ seq }) => seq > after && seq <= reading.to)
        .slice(0, Math.min(PAGE_ROWS, taker.left()))
      after = page.at(-1)?.seq ?? after
      yield "busy" as const
      for (const row of page) {
        isFull ||= !taker.take(row.seq, row.bytes)
        if (!isFull) days.set(row.day, [...(days.get(row.day) ?? []), row])
      }
      isFull ||= page.length === 0 || taker.left() === 0
    }
    return { days, end: taker.end() }
  }

  *#putFiles(actor: Actor, range: ArchiveRange, days: ReadonlyMap<string, ReadonlyArray<LoggedRow>>) {
    const written: Array<SizedFile> = []
    const { puts, removals } = fileChanges(range, [...days.keys()])
    for (const { day, path } of puts) {
      if (!this.#holds(actor)) return undefined
      const rows = days.get(day) ?? []
      this.#put(path, rows)
      written.push({ ...range, table: "events", day, rows: rows.length, bytes: rows.length })
      yield "busy" as const
    }
    for (const path of removals) {
      if (!this.#holds(actor)) return undefined
      this.files.delete(path)
      yield "busy" as const
    }
    return written
  }

  /** A file is replaced by the same rows, but for those of runs that were deleted meanwhile. */
  #put(path: string, rows: ReadonlyArray<LoggedRow>) {
    const before = this.files.get(path)
    const seqs = (of: ReadonlyArray<LoggedRow>) =>
      of
        .filter(({ run }) => !this.tombstones.has(run))
        .map(({ seq }) => seq)
        .join()
    if (before !== undefined && seqs(before) !== seqs(rows)) throw new Error(`${path} is replaced by other rows`)
    this.files.set(path, rows)
  }

  /** As the statements of `ArchiveState` compare it. */
  #plan(after: number, range: ArchiveRange) {
    if (this.position !== after || this.range !== undefined) return false
    this.range = range
    return true
  }

  #complete({ from, to }: ArchiveRange, written: ReadonlyArray<SizedFile>) {
    if (this.range?.from !== from || this.range.to !== to) return
    this.range = undefined
    for (const file of written) this.known.set(archivePath(file), file)
    this.position = Math.max(this.position, to)
  }

  *#compact(actor: Actor): Generator<"idle" | "busy", void> {
    const [waiting] = this.log.filter(({ seq }) => seq > this.position)
    const before = firstOpenDay(CALENDAR[this.today] ?? "", waiting?.day)
    const deleted = new Set(this.tombstones)
    const runs = [...deleted].map((run) => {
      const seqs = this.history.filter((row) => row.run === run).map(({ seq }) => seq)
      return { firstSeq: seqs[0], lastSeq: seqs.at(-1) ?? 0, createdDay: "" }
    })
    yield "busy"
    yield* this.#mergeNext(actor, deleted)
    const merges = planMerges([...this.known.values()], before, MERGED, (file) =>
      runs.some((run) => mayHold(file, run))
    )
    for (const planned of merges) {
      if (this.merge === undefined && planned.parts.every((part) => this.known.has(archivePath(part)))) {
        this.merge = planned
      }
      yield "busy"
      yield* this.#mergeNext(actor, deleted)
    }
    while (!this.#acquire(actor)) yield "busy"
    for (const path of leftOverFiles([...this.files.keys()], CELL, new Set(this.known.keys()))) {
      if (!this.#holds(actor)) return
      this.files.delete(path)
      yield "busy"
    }
    this.cut(actor)
  }

  *#mergeNext(actor: Actor, deleted: ReadonlySet<string>): Generator<"idle" | "busy", void> {
    while (!this.#acquire(actor)) yield "busy"
    const { merge } = this
    if (merge !== undefined) {
      const rows: Array<LoggedRow> = []
      for (const part of merge.parts.map(archivePath)) {
        const found = this.files.get(part)
        if (found === undefined) throw new Error(`the part ${part} of a merge is missing`)
        rows.push(...found.filter(({ run }) => !deleted.has(run)))
        yield "busy"
      }
      if (!this.#holds(actor)) return
      const path = archivePath(merge.into)
      this.#put(path, rows)
      yield "busy"
      if (this.merge !== merge || !this.#holds(actor)) return
      this.merge = undefined
      for (const part of merge.parts) this.known.delete(archivePath(part))
      this.known.set(path, { ...merge.into, rows: rows.length, bytes: rows.length })
      yield "busy"
      for (const part of supersededBy(merge)) {
        if (!this.#holds(actor)) return
        this.files.delete(part)
        yield "busy"
      }
    }
    this.cut(actor)
  }
}
