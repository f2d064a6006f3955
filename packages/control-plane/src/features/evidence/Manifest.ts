import { type EvidenceOptions, RUNPLANE_VERSION } from "@runplane/api"
import { canonicalJson, GAP_KINDS, type GapKind, type Gaps, type RunId, type Signer } from "@runplane/domain"
import * as Hex from "effect/encoding/Hex"
import type { Caller } from "../../platform/audit/AuditTrail.ts"
import type { HashedFile } from "./BundleFiles.ts"
import type { LeftOut } from "./RunFiles.ts"

/** The form of a bundle, in its manifest and under its signature. */
export const EVIDENCE_KIND = "runplane-evidence-v1"

/** What the manifest says of one run. */
export interface RunEntry {
  readonly runId: RunId
  /** The folder of its files; empty for the bundle of one run. */
  readonly folder: string
  readonly status: string
  readonly storage: "database" | "archive"
  readonly events: number
  /** Version of the chain. */
  readonly chain: 1 | 2
  /** Members that were erased. */
  readonly erasures: number
  /** Frames of the runtime in the bundle; null without the file. */
  readonly frames: number | null
  readonly sealed: boolean
  /** The number of each kind of gap: 0 claims that the service knows of none. */
  readonly gaps: Readonly<Record<GapKind, number>>
  /** Files without a line: each claims that there was nothing of its kind. */
  readonly empty: ReadonlyArray<string>
  readonly leftOut: ReadonlyArray<LeftOut>
}

export const gapCounts = (gaps: Gaps): RunEntry["gaps"] => {
  const { alteredMessages, assumedAttributions, callsWithoutPrompt, callsWithoutUsage, guessedPrices } = gaps
  return {
    streamGaps: gaps.streamGaps.count,
    lateSpans: gaps.lateSpans.count,
    assumedAttributions: assumedAttributions.count,
    guessedPrices: guessedPrices.count,
    callsWithoutUsage: callsWithoutUsage.count,
    callsWithoutPrompt: callsWithoutPrompt.count,
    alteredMessages: alteredMessages.count,
    unknownEvents: gaps.unknownEvents.count
  }
}

export interface ManifestFacts {
  readonly scope: { readonly run: RunId } | { readonly query: string }
  readonly options: EvidenceOptions
  readonly madeAt: string
  readonly caller: Caller
  readonly authority: string | undefined
  readonly runs: ReadonlyArray<RunEntry>
  readonly files: ReadonlyArray<Pick<HashedFile, "name" | "bytes" | "sha256">>
}

/** The text of the manifest: all that the signature covers. */
export const manifestText = ({ authority, caller, files, madeAt, options, runs, scope }: ManifestFacts): string => {
  const { actorId, actorType, name, role } = caller.actor
  const manifest = {
    kind: EVIDENCE_KIND,
    tool: { name: "runplane", version: RUNPLANE_VERSION },
    madeAt,
    madeBy: { actorId, actorType, role, ...(name !== undefined && { name }) },
    scope,
    options,
    claims: "A count of 0 and an empty file claim that the service knows of nothing of that kind.",
    gapKinds: GAP_KINDS,
    runs,
    anchor: authority === undefined ? null : { kind: "rfc3161", authority },
    files: files
      .toSorted((left, right) => (left.name < right.name ? -1 : 1))
      .map(({ bytes, name: file, sha256 }) => ({ name: file, bytes, sha256 }))
  }
  return `${JSON.stringify(manifest, null, 2)}\n`
}

/**
 * The signature of a manifest: Ed25519 over the canonical JSON of the other members. Without a key it is null, and the
 * digest shows accidents alone.
 */
export const manifestSignature = (sha256: string, signer: Signer | undefined): string => {
  const signed = {
    kind: EVIDENCE_KIND,
    algorithm: signer === undefined ? "sha256" : "sha256-ed25519",
    sha256,
    keyId: signer?.keyId ?? null
  }
  const bytes = new TextEncoder().encode(canonicalJson(signed))
  const signature = signer === undefined ? null : Hex.encode(signer.sign(bytes))
  return `${JSON.stringify({ ...signed, signature }, null, 2)}\n`
}
