import {
  decodeEventText,
  evidenceReader,
  type PolicyText,
  type RunEvidence,
  type RunId,
  type Sliced
} from "@runplane/domain"
import { RuntimeClient } from "@runplane/runtime"
import { ControlPlaneSettings, inSlices, readSetting } from "@runplane/server"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { SqlError } from "effect/sql/SqlError"
import { EventRepository, type StoredEvent } from "../../event-log/EventRepository.ts"
import { RunGone } from "../../event-log/runs/RunGone.ts"
import { sha256 } from "../../platform/Sha256.ts"

/** Events of one read; fewer when they are large. */
const EVENTS_PER_READ = 500

/** The part of a log that a bundle has, and what is known of its run beside it. */
export interface ReadRun {
  readonly runId: RunId
  readonly lastSeq: number
  readonly events: number
  readonly scenario: string | undefined
}

/** What the log of a run says, and the artifacts that it has: one that is stored meanwhile is of a later log. */
export interface FoundEvidence {
  readonly evidence: RunEvidence
  readonly artifacts: ReadonlySet<string>
}

/** Reads what the documents of a bundle say from the log of a run, one page in memory. */
export const makeRunReader = Effect.gen(function* () {
  const events = yield* EventRepository
  const runtime = yield* RuntimeClient
  const patience = yield* readSetting(ControlPlaneSettings.SESSION_POLICY_TIMEOUT_MS)

  /** A policy that the registry does not return is named as unknown in the documents. */
  const registered = (policyId: string) =>
    runtime.getPolicy(policyId).pipe(
      Effect.timeoutOption(patience),
      Effect.map(Option.getOrUndefined),
      Effect.catch((error) =>
        Effect.as(Effect.logDebug(`the registry did not return the policy ${policyId}: ${error.message}`), undefined)
      )
    )

  return Effect.fnUntraced(function* (
    { events: count, lastSeq, runId, scenario }: ReadRun,
    inTurn: <A, E>(read: Effect.Effect<A, E>) => Effect.Effect<A, E>
  ): Effect.fn.Return<FoundEvidence, SqlError | RunGone> {
    const artifacts = new Set<string>()
    const readAll = Effect.fnUntraced(function* (policies: ReadonlyMap<string, PolicyText | undefined>) {
      const reader = evidenceReader(sha256, (policyId) => policies.get(policyId))
      let afterSeq = 0
      let taken = 0
      while (taken < count) {
        const page = yield* inTurn(events.slice(runId, { afterSeq, upToSeq: lastSeq }, EVENTS_PER_READ))
        const last = page.events.at(-1)
        if (last === undefined) return yield* new RunGone({ runId })
        yield* inTurn(inSlices(takenIn(reader, page.events, artifacts)))
        taken += page.events.length
        afterSeq = last.seq
      }
      return reader
    })
    const first = yield* readAll(new Map())
    const missing = first.policyOffRecord()
    const policy = missing === undefined ? undefined : yield* registered(missing)
    // Forecasts need the rules at the time of each ballot.
    const reader = missing === undefined || policy === undefined ? first : yield* readAll(new Map([[missing, policy]]))
    const evidence = yield* inTurn(inSlices(reader.read({ ...(scenario !== undefined && { scenario }) })))
    return { evidence, artifacts }
  })
})

function* takenIn(
  reader: ReturnType<typeof evidenceReader>,
  page: ReadonlyArray<StoredEvent>,
  artifacts: Set<string>
): Sliced<void> {
  for (const { json } of page) {
    const event = Result.getOrThrow(decodeEventText(json))
    if (event.type === "artifact.created") artifacts.add(event.data.artifactId)
    yield* reader.take(event)
    yield
  }
}
