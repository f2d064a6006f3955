import { AlertTriangle, Inbox, RotateCw } from "lucide-react"
import type { ReactNode } from "react"
import { type Problem, problemOf, UNREACHABLE } from "../client/Problem.ts"
import { relativeTime } from "../view/format/Format.ts"
import { Id, UserText } from "./basics.tsx"
import { useOwnNow } from "./hooks.ts"

/** An empty state: what is missing, and what to do. */
export const Empty = ({
  title,
  children,
  isPage = false
}: {
  readonly title: string
  readonly children?: ReactNode
  /** It is the only content of the page. */
  readonly isPage?: boolean
}) => (
  <div className="flex flex-col items-center justify-center gap-2 px-6 py-14 text-center">
    <Inbox size={22} aria-hidden className="text-muted" />
    {isPage ? <h1 className="font-medium text-soft">{title}</h1> : <p className="font-medium text-soft">{title}</p>}
    {children === undefined ? null : <div className="max-w-md text-muted">{children}</div>}
  </div>
)

const advice = ({ code, status }: Problem): string => {
  if (code === UNREACHABLE) return "Nothing was changed. The page continues when the service answers again."
  if (status === 403) return "The role of this key does not allow it."
  if (status === 404) return "It may have been deleted, or the link may be wrong."
  if (status === 429) return "The service limits the requests of each client. Try again in a minute."
  if (status >= 500) return "The service failed; its log contains the request id."
  return ""
}

/** An error: code, message, request id, and a button to try again. */
export const Failure = ({
  error,
  isPage = false,
  retry,
  what
}: {
  readonly error: unknown
  /** It is the only content of the page. */
  readonly isPage?: boolean
  readonly retry?: () => void
  readonly what: string
}) => {
  const problem = problemOf(error, "")
  const help = advice(problem)
  const Title = isPage ? "h1" : "p"
  return (
    <div role="alert" className="m-4 flex gap-3 rounded-lg border border-bad/40 bg-bad-soft p-4">
      <AlertTriangle size={18} aria-hidden className="mt-0.5 shrink-0 text-bad" />
      <div className="min-w-0 flex-1">
        <Title className="font-semibold text-text">{what}</Title>
        <ul className="mt-1 text-soft">
          {problem.messages.map((message) => (
            <li key={message}>
              <UserText text={message} />
            </li>
          ))}
        </ul>
        {help === "" ? null : <p className="mt-1 text-soft">{help}</p>}
        <p className="mt-2 flex flex-wrap items-center gap-x-4 gap-y-1 text-soft">
          <code className="font-mono text-[12px]">{problem.code}</code>
          {problem.requestId === "" ? null : (
            <span className="inline-flex items-center gap-1">
              request <Id id={problem.requestId} label="request id" />
            </span>
          )}
        </p>
        {retry === undefined ? null : (
          <button type="button" className="btn mt-3" onClick={retry}>
            <RotateCw size={14} aria-hidden /> Try again
          </button>
        )}
      </div>
    </div>
  )
}

/** The age of the shown data, which could not be refreshed; `since` is 0 when it is unknown. */
export const Stale = ({
  error,
  retry,
  since
}: {
  readonly since: number
  readonly error: unknown
  readonly retry: () => void
}) => {
  const now = useOwnNow(1_000)
  const { messages, requestId } = problemOf(error, "")
  return (
    <div
      className="flex flex-wrap items-center gap-x-2 border-b border-line bg-warn-soft px-4 py-1 text-warn"
      data-stale
    >
      <AlertTriangle size={14} aria-hidden className="shrink-0" />
      {since === 0 ? "Not current" : `As of ${relativeTime(since, now)}`}:
      <span role="status" className="min-w-0 wrap-anywhere">
        {messages.join("; ")}
      </span>
      {requestId === "" ? null : <Id id={requestId} label="request id" />}
      <button type="button" className="btn ml-auto" onClick={retry}>
        Try again
      </button>
    </div>
  )
}

/** Grey bars with the height of the loading content. */
export const Skeleton = ({ rows, height }: { readonly rows: number; readonly height: number }) => (
  <div role="status" aria-label="Loading" className="px-4">
    {Array.from({ length: rows }, (_, row) => (
      <div key={row} className="flex items-center gap-4 border-b border-line" style={{ height }}>
        <span className="skeleton h-3 w-20" />
        <span className="skeleton h-3" style={{ width: `${30 + ((row * 37) % 40)}%` }} />
        <span className="skeleton ml-auto h-3 w-14" />
      </div>
    ))}
  </div>
)
