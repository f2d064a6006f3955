import type { Severity } from "../runner/Telemetry.ts"

/** What a specialist concludes about the proposal of a decision. */
export interface Assessment {
  readonly recommendation: "APPROVE" | "REVIEW" | "REJECT" | "BLOCK"
  /** 0 to 1. */
  readonly confidence: number
  readonly reason: string
  readonly objection?: { readonly severity: Severity; readonly reason: string }
  /** Signals to raise, by type. */
  readonly alerts: ReadonlyArray<string>
}

/** REVIEW approves; anything harder rejects. */
export const voteFor = ({ recommendation }: Assessment): "APPROVE" | "REJECT" =>
  recommendation === "APPROVE" || recommendation === "REVIEW" ? "APPROVE" : "REJECT"
