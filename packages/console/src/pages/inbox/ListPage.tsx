import type { InboxEntry } from "@runplane/api"
import { Link, useSearch } from "wouter"
import { needsSignIn } from "../../client/Inbox.ts"
import { Time, toneText, UserText } from "../../ui/basics.tsx"
import { useNow, useTitle } from "../../ui/hooks.ts"
import { Empty, Failure, Skeleton, Stale } from "../../ui/States.tsx"
import { isOld } from "../../ui/useRead.ts"
import { counted } from "../../view/format/Format.ts"
import { closedText, STATES, timeLeft } from "../../view/inbox/InboxWords.ts"
import { Passkeys } from "./Passkeys.tsx"
import { SignInFirst } from "./SignInFirst.tsx"
import { useItems } from "./useInbox.ts"

/** The questions of the person: open ones, or with `?closed` those of the past. */
export const ListPage = () => {
  const isClosedList = new URLSearchParams(useSearch()).has("closed")
  const read = useItems(isClosedList)
  const items = read.data?.pages.flatMap(({ data }) => data)
  const open = isClosedList ? 0 : (items?.filter(({ state }) => state === "open").length ?? 0)
  useTitle(open === 0 ? "Inbox" : `${counted(open, "question")} · Inbox`)
  if (needsSignIn(read.error)) return <SignInFirst />
  const retry = () => void read.refetch()
  return (
    <>
      <div className="flex flex-wrap items-end gap-x-4 gap-y-1 px-4 pt-4 pb-2">
        <h1 className="text-[18px] font-semibold tracking-tight">
          {isClosedList ? "Closed questions" : "Questions to you"}
        </h1>
        <Link href={isClosedList ? "/" : "/?closed"} className="ml-auto py-1 text-accent underline">
          {isClosedList ? "Show open ones" : "Show closed ones"}
        </Link>
      </div>
      {items !== undefined && isOld(read) ? (
        <Stale since={read.dataUpdatedAt} error={read.error ?? read.failureReason} retry={retry} />
      ) : null}
      {items === undefined ? (
        read.error === null ? (
          <Skeleton rows={4} height={72} />
        ) : (
          <Failure what="Your questions cannot be read" error={read.error} retry={retry} />
        )
      ) : items.length === 0 ? (
        <Empty title={isClosedList ? "No question of yours is closed" : "No question waits for you"}>
          {isClosedList
            ? "Questions appear here once they are answered, or need no answer any more."
            : "A question appears here when a scenario asks you. The page looks every ten seconds."}
        </Empty>
      ) : (
        <ul className="flex flex-col gap-2 px-4 pb-4">
          {items.map((item) => (
            <Entry key={item.id} item={item} />
          ))}
        </ul>
      )}
      {read.hasNextPage ? (
        <button
          type="button"
          className="btn mx-4 mb-4 h-10 justify-center"
          disabled={read.isFetchingNextPage}
          onClick={() => void read.fetchNextPage()}
        >
          {read.isFetchingNextPage ? "Reading…" : "Show more"}
        </button>
      ) : null}
      <Passkeys />
    </>
  )
}

const Entry = ({ item }: { readonly item: InboxEntry }) => {
  const { createdAt, deadlineAt, id, scenarioRef, seat, state, title } = item
  const now = useNow(1_000)
  const { tone, word } = STATES[state]
  const closed = closedText(item)
  return (
    <li>
      <Link href={`/${id}`} className="panel block p-3 hover:border-line-strong" data-item={id}>
        <span className="flex items-baseline gap-3">
          <UserText text={title ?? "A question without a title"} className="min-w-0 flex-1 text-[15px] font-semibold" />
          <span className={`font-medium whitespace-nowrap ${toneText[tone]}`}>{word}</span>
        </span>
        <span className="mt-1 block text-soft">
          <UserText text={scenarioRef} /> · as <UserText text={seat} />
        </span>
        <span className="num mt-0.5 block text-muted">
          {closed ??
            (state === "waiting" ? (
              "The other participants come first."
            ) : (
              <>
                {deadlineAt === undefined ? "No deadline" : timeLeft(Date.parse(deadlineAt), now)} · asked{" "}
                <Time at={item.openedAt ?? createdAt} />
              </>
            ))}
        </span>
      </Link>
    </li>
  )
}
