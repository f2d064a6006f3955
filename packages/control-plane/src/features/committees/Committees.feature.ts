import * as Layer from "effect/Layer"
import type { Feature } from "../../Feature.ts"
import { makeCommitteeDeletion, makeCommitteeErasure, makeCommitteeMarks } from "./ChangedCommittees.ts"
import * as CommitteeLoop from "./CommitteeLoop.ts"
import { CommitteeSearches } from "./CommitteeSearches.ts"
import { Committees } from "./Committees.ts"
import { CommitteesHttp } from "./CommitteesHttp.ts"

/** How independent the voters of runs are, and what each is worth (docs/reference/committees.md). */
export const committees = {
  name: "committees",
  tables: ["run_voter_changes", "run_voter_cursor", "run_voters"],
  onRunsDeleted: makeCommitteeDeletion,
  onErasure: makeCommitteeErasure,
  onMark: makeCommitteeMarks,
  layer: Layer.mergeAll(CommitteeLoop.layer, Committees.layer, CommitteeSearches.layer),
  routes: CommitteesHttp
} satisfies Feature
