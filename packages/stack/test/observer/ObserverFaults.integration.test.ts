import { randomUUID } from "node:crypto"
import { layer } from "@effect/vitest"
import { SandboxFaults } from "@runplane/sandbox"
import * as Effect from "effect/Effect"
import { Dice } from "./support/Dice.ts"
import { layerObservedStack } from "./support/ObservedStack.ts"
import { awaitEnd, playSession, postRun } from "./support/PlayedSession.ts"
import { ATTACHED, plainScript, type SessionScript } from "./support/SessionScript.ts"
import { assertConvergence, seedsToTry } from "./support/Trial.ts"
import { assertConverged, exportOf } from "./support/Verdict.ts"

/** One round of concurrent trials; `ObserverFaults.fault.test.ts` has every fault alone and many mixtures. */
const RUNS = 12

const STATUSES = ["unavailable", "aborted", "internal"] as const

/** The stream of the session is cut after so many frames, and so is the one after it. */
const assertCutIsMended = Effect.fnUntraced(function* (script: SessionScript, afterFrames: number) {
  const faults = yield* SandboxFaults
  const sessionId = randomUUID()
  const status = STATUSES[afterFrames % STATUSES.length] ?? "unavailable"
  yield* faults.inject({ kind: "cut", sessionId, afterFrames, status, times: 2 })
  if (script.posted === "before") yield* postRun(sessionId, script)
  const played = yield* playSession(sessionId, script)
  if (script.posted === "after") yield* postRun(sessionId, script)
  yield* awaitEnd(sessionId)
  assertConverged(played, yield* exportOf(sessionId), {}, [])
})

layer(layerObservedStack(), { excludeTestServices: true, timeout: "60 seconds" })("an observed run", (it) => {
  it.effect("ends like its session, with the log of all accepted messages, under every fault of the streams", () =>
    assertConvergence(seedsToTry(RUNS))
  )

  for (const [posted, when] of [
    ["before", "live"],
    ["after", "replayed"]
  ] as const) {
    it.effect(`misses and repeats nothing when its ${when} stream is cut after any frame, and once more`, () => {
      const plain = plainScript("macp.mode.decision.v1", new Dice(7))
      const script = {
        ...plain,
        posted,
        steps: posted === "before" ? [ATTACHED, ...plain.steps] : plain.steps
      }
      const frames = 1 + plain.steps.length
      return Effect.forEach(
        Array.from({ length: frames + 1 }, (_, afterFrames) => afterFrames),
        (afterFrames) => assertCutIsMended(script, afterFrames),
        { concurrency: "unbounded", discard: true }
      )
    })
  }
})
