import type { UseQueryResult } from "@tanstack/react-query"
import { useOwnNow } from "../../ui/hooks.ts"
import { relativeTime } from "../../view/format/Format.ts"

/** When the data of a panel were read: each panel has an answer of its own. */
export const ReadAge = ({ read }: { readonly read: Pick<UseQueryResult, "dataUpdatedAt"> }) => {
  const now = useOwnNow(1_000)
  return read.dataUpdatedAt === 0 ? null : (
    <span className="num text-[12px] text-muted" data-read-age>
      read {relativeTime(Math.min(read.dataUpdatedAt, now), now)}
    </span>
  )
}
