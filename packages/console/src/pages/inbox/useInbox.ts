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
import { inboxStream } from "../../client/InboxStream.ts"
import { useStore } from "../../ui/hooks.ts"
import { CLOSED_STATES, OPEN_STATES } from "../../view/inbox/InboxWords.ts"
import { LATER_MS, OFTEN_MS, SOON_MS } from "../../view/live/Polls.ts"

/** A person waits for the runtime to accept the answer. */
const SENDING_MS = 1_500

/** While the stream of the service is open it says when to read; this finds what it cannot know. */
const STREAMED_MS = LATER_MS

/** Largest page of the service. */
const PAGE_ROWS = 100

export const ITEMS_KEY = "items"
export const ITEM_KEY = "item"
export const itemKey = (id: string) => [ITEM_KEY, id] as const

/** The items of the caller, read again after each change; without the stream, while the page is visible. */
export const useItems = (isClosedList: boolean): UseInfiniteQueryResult<InfiniteData<InboxPage>> => {
  const isStreamed = useStore(inboxStream) === "open"
  return useInfiniteQuery({
    queryKey: [ITEMS_KEY, isClosedList],
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
    refetchInterval: isStreamed ? STREAMED_MS : OFTEN_MS
  })
}

/** One item, read again after each change; without the stream, more often until its answer is accepted. */
export const useItem = (id: string): UseQueryResult<InboxItem> => {
  const isStreamed = useStore(inboxStream) === "open"
  return useQuery({
    queryKey: itemKey(id),
    queryFn: ({ signal }) => callInbox((api) => api.inbox.show({ params: { id } }), signal),
    refetchInterval: ({ state: { data } }) => {
      if (data === undefined) return SOON_MS
      if (isClosed(data.state)) return false
      // A sign-in that is fresh now grows old without any change that the stream could report.
      const isFresh = data.proof.needed === "fresh" && data.proof.given === "fresh"
      if (isStreamed && !isFresh && data.unavailable === undefined) return STREAMED_MS
      return data.state === "answered" || data.state === "sent" ? SENDING_MS : SOON_MS
    }
  })
}

/** The caller. */
export const useMe = (): UseQueryResult<Me> =>
  useQuery({ queryKey: ["me"], queryFn: ({ signal }) => callInbox((api) => api.me.me(), signal), retry: false })
