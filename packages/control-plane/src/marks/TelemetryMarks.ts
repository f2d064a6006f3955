import * as PgClient from "@effect/sql-pg/PgClient"
import { MAX_MARKS_OF_RUN } from "@runplane/api"
import {
  CORRECT,
  correctValue,
  type Judgement,
  type MarkDefinition,
  type MarkValue,
  type RunId,
  valueProblem
} from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { makeDecisionNames } from "./DecisionNames.ts"
import { boundOf, timeAfter } from "./MarkChain.ts"
import { MarkDefinitions } from "./MarkDefinitions.ts"
import { makeMarkTargets, type ResolvedTarget } from "./MarkTargets.ts"
import { type AddedMark, MarkWriter } from "./MarkWriter.ts"

/** A judgement of telemetry, with the hints at its target. */
export interface TelemetryMark extends Judgement {
  readonly participantId?: string
  /** Span of the model call that is judged. */
  readonly callSpanId?: string
}

/** Judgements of telemetry as marks of the run (docs/reference/ingest.md#judgements). */
export class TelemetryMarks extends Context.Service<
  TelemetryMarks,
  {
    /**
     * Adds each judgement once, after the events of the same append, in its transaction. Returns how many are stored:
     * the others are repetitions, or no mark can have their value, or the run has too many marks.
     */
    readonly add: (
      runId: RunId,
      source: string,
      judgements: ReadonlyArray<TelemetryMark>,
      at: string
    ) => Effect.Effect<number, SqlError>
  }
>()("runplane/control-plane/TelemetryMarks") {
  static readonly layer = Layer.effect(
    TelemetryMarks,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const definitions = yield* MarkDefinitions
      const { callsOf, isParticipant, lastDecision } = yield* makeMarkTargets
      const namesOf = yield* makeDecisionNames
      const writer = yield* MarkWriter

      /** The target of each judgement; undefined for a truth about a run without a decision. */
      const targetsOf = Effect.fnUntraced(function* (runId: RunId, judgements: ReadonlyArray<TelemetryMark>) {
        const spans = judgements.flatMap(({ callSpanId }) => callSpanId ?? [])
        const calls = spans.length === 0 ? new Map<string, ResolvedTarget>() : yield* callsOf(runId, spans)
        const names = new Set(judgements.flatMap(({ participantId }) => participantId ?? []))
        const participants = new Set<string>()
        for (const name of names) if (yield* isParticipant(runId, name)) participants.add(name)
        const decision = judgements.some(({ name }) => name === CORRECT) ? yield* lastDecision(runId) : undefined
        return ({
          callSpanId,
          name,
          participantId
        }: Pick<TelemetryMark, "callSpanId" | "name" | "participantId">): ResolvedTarget | undefined => {
          if (name === CORRECT) return decision
          const call = callSpanId === undefined ? undefined : calls.get(callSpanId)
          if (call !== undefined) return call
          return participantId !== undefined && participants.has(participantId)
            ? { target: { kind: "participant", id: participantId } }
            : { target: { kind: "run" } }
        }
      })

      const add = Effect.fn("TelemetryMarks.add")(function* (
        runId: RunId,
        source: string,
        judgements: ReadonlyArray<TelemetryMark>,
        at: string
      ) {
        const chain = yield* writer.lock(runId)
        if (chain === undefined) return 0
        const createdAt = timeAfter(chain, at)
        const stored = yield* sql<{ readonly id: string }>`
          SELECT id::text AS id FROM marks WHERE id = ANY(${judgements.map(({ id }) => id)}::text[]::uuid[])`
        const known = new Set(stored.map(({ id }) => id))
        const targetOf = yield* targetsOf(runId, judgements)
        const defined = new Map<string, MarkDefinition | undefined>()
        for (const { name } of judgements) {
          if (!defined.has(name)) defined.set(name, yield* definitions.find(name))
        }
        const index = targetOf({ name: CORRECT })?.index
        const names = index === undefined || !judgements.some(statesName) ? undefined : yield* namesOf(runId, index)
        const valuesOf = ({ name, values }: TelemetryMark): ReadonlyArray<MarkValue> =>
          name === CORRECT && names !== undefined
            ? values.flatMap((value) => {
                const truth = correctValue(value, names)
                return "problem" in truth ? [] : [truth.value]
              })
            : values
        const marks: Array<AddedMark> = []
        for (const judgement of judgements) {
          const { comment, id, judge, name } = judgement
          const value = valuesOf(judgement).find((each) => valueProblem(defined.get(name), each) === undefined)
          const resolved = targetOf(judgement)
          if (value === undefined || resolved === undefined || known.has(id)) continue
          known.add(id)
          marks.push({
            ...{ id, runId, ...resolved, name, value, judge },
            ...(comment !== undefined && { comment }),
            source: "judge",
            author: `source:${source}`,
            createdAt
          })
        }
        const fitting = boundOf(chain) === undefined ? marks.slice(0, MAX_MARKS_OF_RUN - chain.marks) : []
        yield* writer.add(chain, fitting)
        return fitting.length
      })
      return TelemetryMarks.of({ add })
    })
  )
}

/** Whether a judgement is a truth in words, which the names of the decision decide. */
const statesName = ({ name, values }: TelemetryMark): boolean =>
  name === CORRECT && values.some((value) => typeof value === "string")
