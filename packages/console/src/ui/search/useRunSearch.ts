import type { Run } from "@runplane/api"
import { useQuery } from "@tanstack/react-query"
import { callRuns } from "../../client/Client.ts"
import { useSettled } from "../hooks.ts"

/** A search waits for so long after the last letter. */
const TYPING_MS = 200

/** The query of the newest runs, archived ones included. */
export const newestRuns = (limit: number) =>
  ({ limit, offset: 0, sortBy: "createdAt", sortOrder: "desc", includeArchived: true }) as const

interface RunSearch {
  /** Most runs. */
  readonly limit: number
  readonly enabled?: boolean
}

/** The newest runs that have the text in id, tag, scenario or environment; archived ones are among them. */
export const useRunSearch = (text: string, { enabled = true, limit }: RunSearch): ReadonlyArray<Run> => {
  const search = useSettled(text.trim(), TYPING_MS)
  const { data } = useQuery({
    queryKey: ["run search", search, limit],
    enabled,
    queryFn: ({ signal }) =>
      callRuns((api) => api.runs.list({ query: { ...newestRuns(limit), ...(search !== "" && { search }) } }), signal),
    placeholderData: (before) => before
  })
  return data?.data ?? []
}
