import type { Feature } from "../../Feature.ts"
import * as Archive from "./Archive.ts"
import { makeArchiveReady } from "./ArchiveReady.ts"
import { makeChangeDeletion } from "./ChangeDeletion.ts"
import * as ErasureOfFiles from "./ErasureOfFiles.ts"
import { makeFileErasure } from "./FileErasure.ts"
import { makeMarkChanges } from "./MarkChanges.ts"

/** The log as files in a directory or a bucket (docs/reference/archive.md). */
export const archive = {
  name: "archive",
  tables: [
    "archive_changes",
    "archive_erased_events",
    "archive_erased_runs",
    "archive_erasures",
    "archive_files",
    "archive_ranges",
    "archive_runs",
    "archive_state"
  ],
  onRunsDeleted: makeChangeDeletion,
  onErasure: makeFileErasure,
  onMark: makeMarkChanges,
  base: ErasureOfFiles.layer,
  layer: Archive.layer,
  ready: makeArchiveReady
} satisfies Feature
