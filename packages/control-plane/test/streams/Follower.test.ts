import { assert, describe, it } from "@effect/vitest"
import { emptyRunState } from "@runplane/domain"
import { makeLiveBatch } from "../../src/event-log/subscribe/LiveBatch.ts"
import { step } from "../../src/streams/Follower.ts"
import { type Action, type Input, openLog, openReplay, openRun, type State } from "../../src/streams/FollowerState.ts"
import { SharedFrames } from "../../src/streams/SharedFrames.ts"
import { sseBytes } from "../../src/streams/SseFrames.ts"
import { MEMORY_RUN } from "./MemoryLog.ts"

const NOW = 1_000
const HEARTBEAT_MS = 500
const start = { runId: MEMORY_RUN, status: "running", lastSeq: 30, lastIndex: 3, state: "{}" } as const
const options = { includeSnapshot: true, snapshots: "all", snapshotIntervalMs: 100, heartbeatMs: HEARTBEAT_MS } as const
const ready = (now = NOW): Input => ({ _tag: "Ready", now, audience: 1 })
const taken: Input = { _tag: "Page", deliveries: [], seq: 30, index: 3, isLast: true }

const run = (afterSeq?: number) => openRun({ ...options, afterSeq }, start, { now: NOW, position: 0 })
const log = (resetFrom?: number) =>
  openLog({ afterSeq: 30, heartbeatMs: HEARTBEAT_MS, ...(resetFrom !== undefined && { resetFrom }) }, NOW, 0)
const replay = (speed?: number) =>
  openReplay({ _tag: "Replay", runId: MEMORY_RUN, toSeq: 20, speed, maxDelayMs: 2_000 }, 1)

const batch = (from: number, to: number, ends = false) =>
  makeLiveBatch({
    runId: MEMORY_RUN,
    status: ends ? "completed" : "running",
    changed: ends,
    events: Array.from({ length: to - from + 1 }, (_, offset) => {
      const index = from + offset
      return { seq: index * 10, index, type: "message.received" as const, json: `{"index":${index}}` }
    }),
    state: () => JSON.stringify(emptyRunState(MEMORY_RUN)),
    lastSeq: to * 10,
    lastIndex: to
  })

const eventsOf = (times: ReadonlyArray<number>) =>
  times.map((at, offset) => {
    const seq = 10 * (offset + 1)
    return { seq, index: offset + 1, json: JSON.stringify({ seq, ts: new Date(at).toISOString() }) }
  })

/** The names of the frames that an action sends, or the action. */
const nameOf = (action: Action): string => {
  if (action._tag === "Wait" || action._tag === "Sleep") return `${action._tag} ${action.until}`
  if (action._tag !== "Send") return action._tag
  const names = Buffer.concat(action.deliveries.map(sseBytes))
    .toString()
    .matchAll(/^(?:event: (\w+)|id: (\d+))$/gm)
  return [...names].map(([, event, id]) => event ?? id).join(" ")
}

/** Applies inputs one by one, and returns the actions. */
const actionsOf = (initial: State, ...inputs: ReadonlyArray<Input>) => {
  let state = initial
  return inputs.map((input) => {
    const [after, action] = step(state, input)
    state = after
    return nameOf(action)
  })
}

describe("the state machine of event streams", () => {
  const cases: ReadonlyArray<readonly [title: string, State, ReadonlyArray<readonly [Input, string]>]> = [
    [
      "sends a snapshot and then the next batch",
      run(),
      [
        [ready(), "snapshot"],
        [ready(), `Wait ${NOW + HEARTBEAT_MS}`],
        [batch(4, 5), "canonical_event 40 canonical_event 50"],
        [ready(), "Wait 1100"],
        [ready(1_100), "snapshot"]
      ]
    ],
    [
      "reads the events behind a cursor, and compares with the head",
      run(10),
      [
        [ready(), "snapshot"],
        [ready(), "ReadPage"],
        [taken, "Continue"],
        [ready(), "ReadHead"],
        [{ _tag: "Head", head: start }, "Continue"],
        [ready(), `Wait ${NOW + HEARTBEAT_MS}`]
      ]
    ],
    [
      "reads the database after a gap, and after a skipped index",
      run(),
      [
        [ready(), "snapshot"],
        [{ _tag: "Gap" }, "Continue"],
        [ready(), "ReadPage"],
        [taken, "Continue"],
        [ready(), "ReadHead"],
        [{ _tag: "Head", head: start }, "Continue"],
        [batch(5, 5), "Continue"],
        [ready(), "ReadPage"]
      ]
    ],
    [
      "ends after the last snapshot of a run that ends",
      run(),
      [
        [ready(), "snapshot"],
        [batch(4, 4, true), "canonical_event 40"],
        [ready(), "snapshot"],
        [ready(), "End"]
      ]
    ],
    [
      "retries a failed read, and sends heartbeats in the meantime",
      run(10),
      [
        [ready(), "snapshot"],
        [ready(), "ReadPage"],
        [{ _tag: "Failed", now: 1_450, jitter: 0.5 }, "Continue"],
        [ready(1_450), "Sleep 1500"],
        [ready(1_500), "ReadHead"],
        [{ _tag: "Failed", now: 1_500, jitter: 0.5 }, "Continue"],
        [ready(1_500), "heartbeat"],
        [ready(1_500), "Sleep 1700"],
        [ready(1_700), "ReadPage"]
      ]
    ],
    [
      "starts over when the log ends before the cursor",
      run(99),
      [
        [ready(), "ReadHead"],
        [{ _tag: "Head", head: start }, "Continue"],
        [ready(), "ReadCurrent"],
        [{ _tag: "Current", current: start, now: NOW }, "reset 30 snapshot"],
        [ready(), "ReadPage"]
      ]
    ],
    [
      "fails when the run is deleted",
      run(10),
      [
        [ready(), "snapshot"],
        [{ _tag: "Current", current: undefined, now: NOW }, "Fail"]
      ]
    ],
    [
      "sends a heartbeat and then the frames of the log",
      log(),
      [
        [ready(), "ReadHead"],
        [{ _tag: "Head", head: { lastSeq: 35, lastIndex: 0 } }, "Continue"],
        [ready(), "heartbeat 35"],
        [{ _tag: "Frames", frames: [new SharedFrames(["id: 40\n"])], seq: 45 }, "40"],
        [ready(), `Wait ${NOW + HEARTBEAT_MS}`],
        [{ _tag: "Gap" }, "Continue"],
        [ready(), "ReadPage"],
        [{ ...taken, seq: 50 }, "Continue"],
        [ready(), `Wait ${NOW + HEARTBEAT_MS}`],
        [{ _tag: "Restored", seq: 20, restores: 1 }, "Continue"],
        [ready(), "reset 20"]
      ]
    ],
    [
      "starts the log over at its end when the cursor is beyond it",
      log(99),
      [
        [ready(), "reset 30"],
        [ready(), "ReadHead"]
      ]
    ],
    [
      "sends a page of a replay, and ends",
      replay(),
      [
        [ready(), "ReadPage"],
        [{ ...taken, events: eventsOf([0, 100]) }, "canonical_event 10 canonical_event 20"],
        [ready(), "End"]
      ]
    ],
    [
      "keeps the pauses of a replay",
      replay(2),
      [
        [ready(), "ReadPage"],
        [{ ...taken, events: eventsOf([0, 100]) }, "Continue"],
        [ready(), "canonical_event 10"],
        [ready(), "Sleep 1050"],
        [ready(1_050), "canonical_event 20"],
        [ready(1_050), "Continue"],
        [ready(1_050), "End"]
      ]
    ],
    [
      "fails when the run of a replay is deleted",
      replay(),
      [
        [ready(), "ReadPage"],
        [{ ...taken, events: [] }, "Fail"]
      ]
    ]
  ]
  for (const [title, initial, given] of cases) {
    it(title, () => {
      const inputs = given.map(([input]) => input)
      assert.deepStrictEqual(
        actionsOf(initial, ...inputs),
        given.map(([, action]) => action)
      )
    })
  }
})
