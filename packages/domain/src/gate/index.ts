export * from "./Baseline.ts"
export * from "./CaseFile.ts"
export * from "./Flips.ts"
export * from "./RecordedLaunch.ts"
export {
  expectedSide,
  type PairedVotes,
  pairedVotes,
  type ShadowPair,
  shadowCheck,
  shadowPair,
  shadowPlanText
} from "./ShadowPairs.ts"
export * from "./Stability.ts"
export * from "./Trial.ts"
export * from "./TypicalRun.ts"
export * from "./Verdict.ts"
