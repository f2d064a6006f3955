import type { Fault, FaultStatus, FaultStream } from "./Fault.ts"

/** A fault that is in force. */
export interface ActiveFault {
  readonly id: number
  readonly fault: Fault
  /** How often it struck. */
  readonly hits: number
}

/** Where a frame is about to go. */
export interface FrameAddress {
  readonly stream: FaultStream
  readonly sessionId: string
  readonly messageType: string
}

/** What is to be done with one frame. */
export interface Treatment {
  /** 0 drops the frame, 2 delivers it twice. */
  readonly copies: number
  readonly delayMs: number
  readonly extraBytes: number
}

interface Entry {
  readonly id: number
  readonly fault: Fault
  hits: number
}

/**
 * The active faults, which every frame checks. Without faults that costs one comparison. It is shared by all streams of
 * a sandbox and changes while they run.
 */
export class FaultPlan {
  #entries: ReadonlyArray<Entry> = []
  #lastId = 0
  readonly #listeners = new Set<() => void>()

  get isEmpty(): boolean {
    return this.#entries.length === 0
  }

  get active(): ReadonlyArray<ActiveFault> {
    return this.#entries.map(({ fault, hits, id }) => ({ id, fault, hits }))
  }

  add(fault: Fault): number {
    this.#lastId += 1
    this.#entries = [...this.#entries, { id: this.#lastId, fault, hits: 0 }]
    for (const listener of this.#listeners) listener()
    return this.#lastId
  }

  /** False when the fault does not exist, or no longer. */
  remove(id: number): boolean {
    const before = this.#entries.length
    this.#entries = this.#entries.filter((entry) => entry.id !== id)
    return this.#entries.length < before
  }

  clear(): void {
    this.#entries = []
  }

  /** Calls `listener` when a fault is added, so that an idle stream can be cut. The answer stops it. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** All faults that hit this frame, taken together. */
  treat(address: FrameAddress): Treatment {
    let copies = 1
    let delayMs = 0
    let extraBytes = 0
    for (const entry of this.#entries) {
      if (!hits(entry.fault, address)) continue
      switch (entry.fault.kind) {
        case "drop":
          copies = 0
          break
        case "duplicate":
          copies *= 2
          break
        case "delay":
        case "resolve-early":
          delayMs += entry.fault.delayMs
          break
        case "oversize":
          extraBytes += entry.fault.bytes
          break
        default:
          continue
      }
      this.#strike(entry)
    }
    return { copies, delayMs, extraBytes }
  }

  /** The status to end a stream with that has delivered `frames` frames, undefined when it may go on. */
  cutOf(stream: FaultStream, sessionId: string, frames: number): FaultStatus | undefined {
    for (const entry of this.#entries) {
      const { fault } = entry
      if (fault.kind !== "cut" || frames < fault.afterFrames || !isFor(fault, stream, sessionId)) continue
      this.#strike(entry)
      return fault.status ?? "unavailable"
    }
    return undefined
  }

  /** The status a new subscription is refused with, undefined when it is welcome. */
  refusalOf(stream: FaultStream, sessionId: string): FaultStatus | undefined {
    for (const entry of this.#entries) {
      const { fault } = entry
      if (fault.kind !== "refuse" || !isFor(fault, stream, sessionId)) continue
      this.#strike(entry)
      return fault.status ?? "unavailable"
    }
    return undefined
  }

  #strike(entry: Entry): void {
    entry.hits += 1
    if (entry.fault.times !== undefined && entry.hits >= entry.fault.times) this.remove(entry.id)
  }
}

const hits = (fault: Fault, { messageType, sessionId, stream }: FrameAddress): boolean => {
  if (fault.kind === "cut" || fault.kind === "refuse") return false
  if (fault.kind === "resolve-early") {
    return stream === "session" && messageType === "Commitment" && isFor(fault, stream, sessionId)
  }
  return (fault.messageType ?? messageType) === messageType && isFor(fault, stream, sessionId)
}

const isFor = (
  fault: { readonly stream?: FaultStream; readonly sessionId?: string },
  stream: FaultStream,
  sessionId: string
): boolean => (fault.stream ?? "session") === stream && (fault.sessionId ?? sessionId) === sessionId
