import type { RunMarksQuery } from "@runplane/api"
import { ArchiveFault } from "@runplane/archive"
import { type ColdMark, MarkSource, MarkTargetKind } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type MarkRow, toMark } from "../../../marks/MarkRows.ts"
import { unread } from "../../../platform/ArchiveUnread.ts"
import type { TextPage } from "../../../platform/http/JsonAnswer.ts"

const isKind = Schema.is(MarkTargetKind)
const isSource = Schema.is(MarkSource)

/** The page of the marks of a run that a query selects, the newest first. The bounds of a run's marks bound it. */
export const coldMarks = Effect.fnUntraced(function* (
  rows: ReadonlyArray<ColdMark>,
  { history, kind, limit, name, offset, source }: RunMarksQuery
) {
  const marks: Array<MarkRow> = []
  for (const row of rows) {
    const mark = markRow(row)
    if (mark === undefined) {
      return yield* unread(
        new ArchiveFault({ kind: "unreadable", message: `mark ${row.mark_id} has an unknown target or source` })
      )
    }
    if (!history && (mark.replaced_by !== null || mark.deleted_at !== null)) continue
    if (name !== undefined && mark.name !== name) continue
    if (kind !== undefined && mark.target_kind !== kind) continue
    if (source !== undefined && mark.source !== source) continue
    marks.push(mark)
  }
  const page = marks.toReversed().slice(offset, offset + limit)
  const text = JSON.stringify({ data: page.map(toMark), total: marks.length, limit, offset })
  return { text } satisfies TextPage<never>
})

const markRow = ({ created_at, deleted_at, mark_id: id, source, target_kind, ...row }: ColdMark) =>
  isKind(target_kind) && isSource(source)
    ? ({
        ...{ ...row, id, target_kind, source },
        created_at: new Date(created_at),
        deleted_at: deleted_at === null ? null : new Date(deleted_at)
      } satisfies MarkRow)
    : undefined
