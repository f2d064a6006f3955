import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { BadRequest } from "../../errors/ControlPlaneErrors.ts"
import * as Failure from "../../errors/ControlPlaneFailures.ts"
import { operation, tag } from "../../openapi/Describe.ts"
import { RunReference } from "../../validation/Params.ts"
import { LedgerPage, ledgerQuery } from "./Ledger.ts"
import { RunSalts, RunSeal, SealKeySet, saltsQuery, TombstonePage, tombstonesQuery } from "./Seals.ts"

/** Proof of what the histories of runs were (docs/reference/seal.md). */
export class SealsGroup extends HttpApiGroup.make("seals")
  .add(
    HttpApiEndpoint.get("tombstones", "/runs/tombstones", {
      query: tombstonesQuery,
      success: TombstonePage,
      error: Failure.UnknownCursor
    }).annotateMerge(
      operation({
        id: "listTombstones",
        access: "viewer",
        summary: "List what stays of deleted runs",
        description: "Which runs were deleted or have expired, when, by whom, and their last seal; the latest first."
      })
    ),
    HttpApiEndpoint.get("seal", "/runs/:id/seal", {
      params: { id: RunReference },
      success: RunSeal,
      error: [Failure.RunNotFound, Failure.RunNotSealed, Failure.RunCannotBeSealed]
    }).annotateMerge(
      operation({
        id: "getRunSeal",
        access: "viewer",
        summary: "Read the seal of a run",
        description:
          "The head of the hash chain over all events of a run that has ended, signed where the service has a key. " +
          "`runplane verify` checks an export against it."
      })
    ),
    HttpApiEndpoint.get("salts", "/runs/:id/salts", {
      params: { id: RunReference },
      query: saltsQuery,
      success: RunSalts,
      error: [Failure.RunNotFound]
    }).annotateMerge(
      operation({
        id: "getRunSalts",
        access: "viewer",
        summary: "Read what proves the events of a run",
        description:
          "The salts of the digests in the hash chain, and the erasures of the run: for checks of runs that exceed an " +
          "export, as `runplane runs verify` makes them."
      })
    )
  )
  .annotateMerge(tag("Seals", "Proof of what the histories of runs were")) {}

/** The chain of all seals, tombstones and audit entries (docs/reference/seal.md#ledger). */
export class LedgerGroup extends HttpApiGroup.make("ledger")
  .add(
    HttpApiEndpoint.get("list", "/ledger", {
      query: ledgerQuery,
      success: LedgerPage,
      error: BadRequest
    }).annotateMerge(
      operation({
        id: "listLedger",
        access: "admin",
        summary: "List the ledger",
        description:
          "The numbered and signed chain of all seals, tombstones and audit entries, and what became of their " +
          "contents. `runplane ledger verify` checks it."
      })
    )
  )
  .annotateMerge(tag("Seals")) {}

/** The keys to verify seals with: public and never throttled. */
export class SealKeysGroup extends HttpApiGroup.make("sealKeys")
  .add(
    HttpApiEndpoint.get("keys", "/.well-known/runplane-keys.json", { success: SealKeySet }).annotateMerge(
      operation({
        id: "getSealKeys",
        access: "public",
        summary: "Read the public keys of seals",
        description: "Every key that has ever sealed, as a JSON Web Key Set: what is needed to verify seals offline."
      })
    )
  )
  .annotateMerge(tag("Seals")) {}
