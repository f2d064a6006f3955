import { generateKeyPairSync } from "node:crypto"
import { makeModelPrices } from "@runplane/domain"
import { bundledCatalogue } from "@runplane/prices"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Reactors } from "../../src/event-log/append/Reactors.ts"
import * as Log from "../../src/event-log/Log.ts"
import { RunAdministration } from "../../src/event-log/runs/RunAdministration.ts"
import { makeWebhookOutbox } from "../../src/features/webhooks/WebhookOutbox.ts"
import { FrameNormaliser } from "../../src/platform/deployment/FrameNormaliser.ts"
import { Prices } from "../../src/platform/deployment/Prices.ts"
import { Redactor } from "../../src/platform/deployment/Redactor.ts"
import { SealKeys, sealKeyOf } from "../../src/platform/ledger/SealKeys.ts"
import { Outbox } from "../../src/platform/outbox/Outbox.ts"
import { DatabaseClock } from "../../src/platform/postgres/DatabaseClock.ts"
import { layerDeletionHooks } from "../../src/Reactions.ts"
import { makeEventTallies } from "../../src/reactors/tallies/EventTally.ts"
import { makeLateChanges } from "../../src/reactors/tallies/RunTallies.ts"

/** Seals what ends in a test; its public half verifies that. */
export const testSealKey = sealKeyOf(generateKeyPairSync("ed25519").privateKey)

/** The prices of a service without a price file. */
export const layerTestPrices = Layer.succeed(Prices, makeModelPrices(undefined, bundledCatalogue))

export const layerTestNormaliser = FrameNormaliser.layer.pipe(
  Layer.provide([Layer.orDie(Redactor.layer), layerTestPrices])
)

/** The reactors that write: webhooks are put into the outbox, and not delivered. */
const layerTestReactors = Layer.effect(
  Reactors,
  Effect.all([makeEventTallies, makeLateChanges, makeWebhookOutbox])
).pipe(Layer.provide(Outbox.layer), Layer.merge(layerDeletionHooks))

const layerSurroundings = Layer.merge(layerTestNormaliser, Layer.succeed(SealKeys, { current: testSealKey }))

/** Locks and deletes runs, with the rows of all features. */
export const layerTestAdministration = RunAdministration.layer.pipe(Layer.provide(layerDeletionHooks))

/** The log with the reactors that the test provides. */
export const layerReactingLog = Log.layer.pipe(Layer.provide([layerSurroundings, layerDeletionHooks]))

/** The log by the clock of the database. */
export const layerDatabaseTimeLog = layerReactingLog.pipe(Layer.provide(layerTestReactors))

/** The log on whatever database the test provides, by the clock of the test. */
export const layerTestLog = Log.layerBy(DatabaseClock.layerProcess).pipe(
  Layer.provide(layerSurroundings),
  Layer.provide(layerTestReactors)
)
