import type { ArchiveWriting } from "../../../src/features/archive/ArchiveOptions.ts"

/** The steps at which a process that archives is killed. */
export const KILL_STEPS = [
  "before-plan",
  "before-file",
  "half-file",
  "after-file",
  "in-commit",
  "after-commit"
] as const
export type KillStep = (typeof KILL_STEPS)[number]

/** Files so small that a pass writes many. */
export const SMALL_FILES: ArchiveWriting = { cell: "main", bounds: { rows: 7, bytes: 100_000 }, intervalMs: 60_000 }
