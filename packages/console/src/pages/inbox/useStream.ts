import { useQueryClient } from "@tanstack/react-query"
import { useEffect } from "react"
import { followStream } from "../../client/InboxStream.ts"
import { ITEM_KEY, ITEMS_KEY } from "./useInbox.ts"

/** Reads the list and the items again when the stream of the service says that they have changed. */
export const useStream = (isKnown: boolean): void => {
  const queries = useQueryClient()
  useEffect(
    () =>
      isKnown
        ? followStream(() => {
            // An answer to one question may reveal what another one of its session withholds.
            void queries.invalidateQueries({ queryKey: [ITEM_KEY] })
            void queries.invalidateQueries({ queryKey: [ITEMS_KEY] })
          })
        : undefined,
    [queries, isKnown]
  )
}
