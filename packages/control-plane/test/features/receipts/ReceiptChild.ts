/**
 * A process that observes the runs of DATABASE_URL on the runtime at RUNTIME_ADDRESS and reads their receipts. It kills
 * itself with signal 9 when it comes to the step RECEIPT_KILL_STEP.
 */

import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { RuntimeClient } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Reactors } from "../../../src/event-log/append/Reactors.ts"
import { EventLog } from "../../../src/event-log/EventLog.ts"
import * as Log from "../../../src/event-log/Log.ts"
import { makeReceiptOutbox, PendingReceipts } from "../../../src/features/receipts/PendingReceipts.ts"
import * as Receipts from "../../../src/features/receipts/Receipts.ts"
import * as Observation from "../../../src/observe/Observation.ts"
import { ObserverSettings } from "../../../src/observe/ObserverSettings.ts"
import { Redactor } from "../../../src/platform/deployment/Redactor.ts"
import { layerRuntime } from "../../../src/platform/http/RuntimeFromSettings.ts"
import { SealKeys } from "../../../src/platform/ledger/SealKeys.ts"
import { layerDatabase } from "../../../src/platform/postgres/Database.ts"
import { DatabaseClock } from "../../../src/platform/postgres/DatabaseClock.ts"
import { layerDeletionHooks } from "../../../src/Reactions.ts"
import { layerTestNormaliser, testSealKey } from "../../support/ControlPlane.ts"
import type { KillStep } from "./KillSteps.ts"

const url = process.env["DATABASE_URL"] ?? ""

/** Kills this process at once; no finalizer runs. */
const at = (step: KillStep) =>
  Effect.suspend(() => {
    if (step !== process.env["RECEIPT_KILL_STEP"]) return Effect.void
    process.kill(process.pid, "SIGKILL")
    return Effect.never
  })

const KilledWorker = Receipts.layer.pipe(
  Layer.provide([
    Layer.effect(
      RuntimeClient,
      Effect.map(RuntimeClient, (client) =>
        RuntimeClient.of({
          ...client,
          getDecisionReceipt: (sessionId) =>
            at("before-call").pipe(
              Effect.andThen(client.getDecisionReceipt(sessionId)),
              Effect.tap(() => at("after-answer"))
            )
        })
      )
    ),
    Layer.effect(
      EventLog,
      Effect.map(EventLog, (log) =>
        EventLog.of({
          ...log,
          record: (appended) => Effect.tap(log.record(appended), () => at("after-commit"))
        })
      )
    ),
    Layer.effect(
      PendingReceipts,
      Effect.map(PendingReceipts, (pending) =>
        PendingReceipts.of({
          ...pending,
          // In the transaction of the record.
          forget: (runId) => Effect.tap(pending.forget(runId), () => at("in-commit"))
        })
      )
    )
  ])
)

const TheLog = Log.layerBy(DatabaseClock.layerProcess).pipe(
  Layer.provide([layerTestNormaliser, layerDeletionHooks, Layer.succeed(SealKeys, { current: testSealKey })]),
  Layer.provide(
    Layer.effect(
      Reactors,
      Effect.map(makeReceiptOutbox, (outbox) => [outbox])
    )
  )
)

const Child = Layer.merge(Observation.layer, KilledWorker).pipe(
  Layer.provideMerge(TheLog),
  Layer.provideMerge(Layer.merge(PendingReceipts.layer, Redactor.layer)),
  Layer.provide([
    layerDatabase({ url, maxConnections: 6 }),
    layerRuntime,
    ObserverSettings.layerFrom({ streamBackoffBaseMs: 10, discoveryGraceMs: 60_000, recoveryIntervalMs: 50 })
  ])
)

NodeRuntime.runMain(Layer.launch(Child))
