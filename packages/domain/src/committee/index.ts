export * from "./CommitteeFacts.ts"
export * from "./CommitteeRun.ts"
export * from "./CommitteeText.ts"
export { effectiveOf, FEW_ERRORS, LEAST_CASES, LEAST_ERRORS } from "./EffectiveVotes.ts"
export {
  addRun,
  type Committee,
  emptyCommittee,
  independence,
  independenceInSlices,
  LEAST_SHARED_RUNS,
  MAX_COMMITTEE,
  RESAMPLES
} from "./Independence.ts"
export type * from "./IndependenceTypes.ts"
export * from "./Search.ts"
export { MAX_TRIED_SEATS } from "./SearchCandidates.ts"
export type { SearchRun } from "./SearchHalf.ts"
export * from "./SeatWorth.ts"
export * from "./ShadowErrors.ts"
export * from "./ShadowInRun.ts"
export * from "./ShadowWorth.ts"
export { MAX_TRIED_SHADOWS } from "./TriedShadows.ts"
export type * from "./WorthTypes.ts"
