import type { InboxItem, InboxPage, Me } from "@runplane/api"
import { isClosed } from "@runplane/domain"
import {
  type InfiniteData,
  type UseInfiniteQueryResult,
  type UseQueryResult,
  useInfiniteQuery,
  useQuery
} from "@tanstack/react-query"
import { callInbox } from "../../client/Inbox.ts"
import { CLOSED_STATES, OPEN_STATES } from "../../view/inbox/InboxWords.ts"
import { OFTEN_MS, SOON_MS } from "../../view/live/Polls.ts"

/** A person waits for the runtime to accept the answer. */
const SENDING_MS = 1_500

/** Largest page of the service. */
const PAGE_ROWS = 100

export const itemKey = (id: string) => ["item", id] as const

/** The items of the caller, read again while the page is visible. */
export const useItems = (isClosedList: boolean): UseInfiniteQueryResult<InfiniteData<InboxPage>> =>
  useInfiniteQuery({
    queryKey: ["items", isClosedList],
    queryFn: ({ pageParam, signal }) =>
      callInbox(
        (api) =>
          api.inbox.list({
            query: {
              state: isClosedList ? CLOSED_STATES : OPEN_STATES,
              limit: PAGE_ROWS,
              scope: "own",
              ...(pageParam !== "" && { cursor: pageParam })
            }
          }),
        signal
      ),
    initialPageParam: "",
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: OFTEN_MS
  })

/** One item, read again while the page is visible; more often until its answer is accepted. */
export const useItem = (id: string): UseQueryResult<InboxItem> =>
  useQuery({
    queryKey: itemKey(id),
    queryFn: ({ signal }) => callInbox((api) => api.inbox.show({ params: { id } }), signal),
    refetchInterval: ({ state: { data } }) => {
      if (data === undefined) return SOON_MS
      if (isClosed(data.state)) return false
      return data.state === "answered" || data.state === "sent" ? SENDING_MS : SOON_MS
    }
  })

/** The caller. */
export const useMe = (): UseQueryResult<Me> =>
  useQuery({ queryKey: ["me"], queryFn: ({ signal }) => callInbox((api) => api.me.me(), signal), retry: false })
