import type { Fault, FaultStatus } from "@runplane/sandbox"
import type { Dice } from "./Dice.ts"

/** Largest frame the control plane of these tests takes, in bytes. */
export const MAX_FRAME_BYTES = 65_536

/** What is done to the streams of one session, and what can be expected of its log then. */
export interface Trouble {
  readonly name: string
  readonly faults: (sessionId: string, dice: Dice) => ReadonlyArray<Fault>
  /** The history is compacted somewhere in the session. */
  readonly compacts?: true
  /**
   * Absent: the log equals the history. `late`: it holds the whole history, but dropped envelopes come behind those
   * that were delivered before it was noticed. `payloads`: it holds the whole history, but oversized envelopes without
   * their payloads. The others name what the runtime never delivers: the log is the history without that. The run is
   * marked with a gap where that makes a difference.
   */
  readonly loses?: "late" | "payloads" | "one type" | "the rest" | "anything"
}

/** Statuses that end a stream without ending the observation. */
const STATUSES: readonly [FaultStatus, ...ReadonlyArray<FaultStatus>] = [
  "unavailable",
  "aborted",
  "internal",
  "resource_exhausted",
  "unauthenticated",
  "not_found"
]

/** A message type that every session of the mode may have; the selector of a fault that lasts. */
const TYPES = [
  "Evaluation",
  "Vote",
  "Accept",
  "TaskUpdate",
  "HandoffContext",
  "Approve",
  "Contribute",
  "Commitment"
] as const

const KINDS = {
  none: { name: "none", faults: () => [] },
  drop: {
    name: "drop",
    loses: "late",
    // An envelope that is lost three times in a row is given up.
    faults: (sessionId, dice) => [{ kind: "drop", sessionId, times: dice.from(1, 2) }]
  },
  duplicate: {
    name: "duplicate",
    faults: (sessionId, dice) => [
      dice.chance(0.5) ? { kind: "duplicate", sessionId } : { kind: "duplicate", sessionId, times: dice.from(1, 4) }
    ]
  },
  delay: {
    name: "delay",
    faults: (sessionId, dice) => [{ kind: "delay", sessionId, delayMs: dice.from(1, 25) }]
  },
  cut: {
    name: "cut",
    faults: (sessionId, dice) => {
      const afterFrames = dice.from(0, 6)
      const status = dice.oneOf(STATUSES)
      return afterFrames > 0 && dice.chance(0.4)
        ? [{ kind: "cut", sessionId, afterFrames, status }]
        : [{ kind: "cut", sessionId, afterFrames, status, times: dice.from(1, 4) }]
    }
  },
  refuse: {
    name: "refuse",
    faults: (sessionId, dice) => [{ kind: "refuse", sessionId, status: dice.oneOf(STATUSES), times: dice.from(1, 9) }]
  },
  large: {
    name: "large",
    faults: (sessionId, dice) => [{ kind: "oversize", sessionId, bytes: dice.from(1_000, 20_000) }]
  },
  oversize: {
    name: "oversize",
    // An envelope that is too large three times in a row is stored without its payload.
    faults: (sessionId, dice) => [
      { kind: "oversize", sessionId, bytes: MAX_FRAME_BYTES + dice.from(1, 5_000), times: dice.from(1, 2) }
    ]
  },
  "resolve early": {
    name: "resolve early",
    faults: (sessionId, dice) => [{ kind: "resolve-early", sessionId, delayMs: dice.from(20, 400) }]
  },
  watches: {
    name: "watches",
    faults: (sessionId, dice) => [
      { kind: "drop", stream: "lifecycle", sessionId, times: dice.from(1, 3) },
      { kind: "duplicate", stream: "lifecycle", sessionId },
      { kind: "delay", stream: "lifecycle", sessionId, delayMs: dice.from(1, 10) },
      { kind: "drop", stream: "signals", sessionId, times: 1 }
    ]
  }
} satisfies Readonly<Record<string, Trouble>>

const LASTING = {
  compact: {
    name: "compact",
    compacts: true,
    loses: "the rest",
    faults: (sessionId, dice) => [{ kind: "cut", sessionId, afterFrames: dice.from(1, 5), times: 2 }]
  },
  "drop a type": {
    name: "drop a type",
    loses: "one type",
    faults: (sessionId, dice) => [{ kind: "drop", sessionId, messageType: dice.oneOf(TYPES) }]
  },
  "oversize a type": {
    name: "oversize a type",
    loses: "payloads",
    faults: (sessionId, dice) => [
      { kind: "oversize", sessionId, bytes: MAX_FRAME_BYTES, messageType: dice.oneOf(TYPES) }
    ]
  },
  "refuse always": {
    name: "refuse always",
    loses: "the rest",
    faults: (sessionId) => [{ kind: "refuse", sessionId }]
  }
} satisfies Readonly<Record<string, Trouble>>

/** Every trouble by itself. */
export const SINGLE: ReadonlyArray<Trouble> = [...Object.values(KINDS), ...Object.values(LASTING)]

/** Several at once, of those that pass and, now and then, one that lasts. */
export const mixed = (dice: Dice): Trouble => {
  const passing = Object.values(KINDS).filter(({ name }) => name !== "none" && dice.chance(0.3))
  const lasting = dice.chance(0.2)
    ? [dice.oneOf<Trouble>([LASTING.compact, LASTING["drop a type"], LASTING["oversize a type"]])]
    : []
  const all: ReadonlyArray<Trouble> = [...passing, ...lasting]
  const loses = lasting.length > 0 ? "anything" : all.find((trouble) => trouble.loses !== undefined)?.loses
  return {
    name: all.map(({ name }) => name).join(" + ") || "none",
    faults: (sessionId, throws) => all.flatMap(({ faults }) => faults(sessionId, throws)),
    ...(lasting.some(({ compacts }) => compacts) && { compacts: true as const }),
    ...(loses !== undefined && { loses })
  }
}
