import { create, toBinary } from "@bufbuild/protobuf"
import type { RunId } from "@runplane/domain"
import { DecisionMode } from "@runplane/runtime"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ObservedFrame } from "../../../src/event-log/append/AppendRequest.ts"
import { observed } from "../../../src/event-log/append/FrameBytes.ts"
import { layerDatabase } from "../../../src/platform/postgres/Database.ts"
import { layerTestLog } from "../../support/ControlPlane.ts"
import { createMigratedDatabase } from "../../support/TestDatabase.ts"
import { type CuttingProxy, cuttingProxy } from "./CuttingProxy.ts"

/** The line to the database of a test, which can be cut. */
export class FaultyLine extends Context.Service<FaultyLine, CuttingProxy>()("runplane/test/FaultyLine") {
  static readonly layer = Layer.effect(FaultyLine, Effect.flatMap(createMigratedDatabase, cuttingProxy))
}

/** A database behind that line. */
export const layerFaultyDatabase = Layer.unwrap(
  Effect.map(FaultyLine, ({ url }) => layerDatabase({ url, maxConnections: 4, connectTimeoutMs: 2_000 }))
).pipe(Layer.provideMerge(FaultyLine.layer))

/** A log whose line to its database can be cut. */
export const layerFaultyLog = layerTestLog.pipe(Layer.provideMerge(layerFaultyDatabase))

/** A vote as it comes from the runtime, of the session's history or ambient. */
export const vote = (runId: RunId, number: number, ambient = false): ObservedFrame =>
  observed(
    {
      kind: "stream-envelope",
      ambient,
      envelope: {
        macpVersion: "1.0",
        mode: "macp.mode.decision.v1",
        messageType: "Vote",
        messageId: `m${number}`,
        sessionId: runId,
        sender: "agent://a",
        timestampUnixMs: 1,
        payload: toBinary(
          DecisionMode.VotePayloadSchema,
          create(DecisionMode.VotePayloadSchema, { proposalId: "p1", vote: "APPROVE", reason: `vote ${number}` })
        )
      }
    },
    "2026-07-01T10:00:01.000Z"
  )
