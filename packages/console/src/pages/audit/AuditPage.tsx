import type { AuditEntry, AuditQuery } from "@runplane/api"
import { useInfiniteQuery, useMutation } from "@tanstack/react-query"
import { useMemo } from "react"
import { call } from "../../client/Client.ts"
import { Chip, Id, Time, UserText } from "../../ui/basics.tsx"
import { Overlay } from "../../ui/dialogs/Overlay.tsx"
import { download, downloadLines } from "../../ui/download.ts"
import { useTitle, useUrlState } from "../../ui/hooks.ts"
import JsonTree from "../../ui/json/JsonTree.tsx"
import { Facts, Select, TextLink, useFailure } from "../../ui/kit.tsx"
import { InsteadOfRows, RowList } from "../../ui/RowList.tsx"
import { SaveButtons } from "../../ui/SaveButtons.tsx"
import { Empty, Failure, Skeleton, Stale } from "../../ui/States.tsx"
import { QueryBar } from "../../ui/search/QueryBar.tsx"
import { isOld } from "../../ui/useRead.ts"
import { type CsvColumns, csvOf } from "../../view/format/Csv.ts"
import { counted } from "../../view/format/Format.ts"
import { OFTEN_MS } from "../../view/live/Polls.ts"
import { serviceNow } from "../../view/live/ServerClock.ts"
import { queryValue } from "../../view/query/QueryCompletion.ts"
import { scopeParams, spanMs, WINDOWS } from "../../view/query/Scope.ts"
import { textParam } from "../../view/query/UrlState.ts"

const params = { q: textParam, resource: textParam, entry: textParam, window: scopeParams.window }

const PAGE = 100
const HEIGHT = 36
/** Entries of an exported file. */
const MOST_EXPORTED = 20_000

const RESOURCES = ["run", "webhook", "policy", "view", "circuit-breaker", "log", "endpoint"]

/** The audit log, the newest entry first. */
export default function AuditPage() {
  const [state, set] = useUrlState(params)
  useTitle("Audit")
  const query = {
    limit: PAGE,
    offset: 0,
    ...(state.q !== "" && { q: state.q }),
    ...(state.resource !== "" && { resource: state.resource }),
    ...(state.window !== "" && { createdAfter: new Date(serviceNow() - spanMs[state.window]).toISOString() })
  }
  const list = useInfiniteQuery({
    queryKey: ["audit", state.q, state.resource, state.window],
    queryFn: ({ pageParam, signal }) =>
      call((api) => api.audit.list({ query: { ...query, ...(pageParam !== "" && { cursor: pageParam }) } }), signal),
    initialPageParam: "",
    getNextPageParam: ({ nextCursor }) => nextCursor,
    placeholderData: (before) => before,
    refetchInterval: ({ state: { data } }) => ((data?.pages.length ?? 0) <= 2 ? OFTEN_MS : false)
  })
  const failure = useFailure(list)
  const entries = useMemo(() => list.data?.pages.flatMap(({ data }) => data) ?? [], [list.data])
  const total = list.data?.pages.at(-1)?.total
  const { fetchNextPage, hasNextPage, isFetchingNextPage } = list
  const chosen = entries.find(({ id }) => id === state.entry)
  const save = useMutation({ mutationFn: (form: "csv" | "jsonl") => exportEntries(query, form) })
  const narrow = (name: string, value: string) => {
    const condition = `${name}:${queryValue(value)}`
    if (!state.q.includes(condition)) set({ q: `${state.q} ${condition}`.trim() })
  }
  return (
    <div className="flex h-full flex-col">
      <div className="flex flex-col gap-2 border-b border-line bg-panel px-4 py-2.5">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
          <h1 className="text-[17px] font-semibold tracking-tight">Audit</h1>
          <span className="num text-muted" aria-live="polite">
            {total === undefined ? "" : counted(total, "entry", "entries")}
          </span>
          <span className="ml-auto flex gap-2">
            <SaveButtons
              busy={save.isPending}
              title={`Saves the filtered entries, at most ${MOST_EXPORTED}`}
              onSave={(form) => save.mutate(form)}
            />
          </span>
        </div>
        <div className="flex flex-wrap items-start gap-2">
          <QueryBar
            resource="audit"
            label="Search the audit log"
            placeholder="action:run.cancel actor:key:5e884898 outcome:refused"
            value={state.q}
            onChange={(q) => set({ q })}
          />
          <Select
            label="Resource"
            value={state.resource}
            options={[["", "All resources"], ...RESOURCES.map((name) => [name, name] as const)]}
            onChange={(resource) => set({ resource })}
          />
          <Select
            label="Time"
            value={state.window}
            options={[["", "Any time"], ...WINDOWS]}
            onChange={(window) => set({ window })}
          />
        </div>
      </div>
      {isOld(list) && entries.length > 0 ? (
        <Stale since={list.dataUpdatedAt} error={list.error ?? list.failureReason} retry={() => void list.refetch()} />
      ) : null}
      {save.isError ? <Failure what="The entries could not be exported" error={save.error} /> : null}
      {entries.length === 0 ? (
        <InsteadOfRows>
          {list.isPending && failure === null ? <Skeleton rows={12} height={HEIGHT} /> : null}
          {failure === null ? null : (
            <Failure what="The audit log cannot be read" error={failure} retry={() => void list.refetch()} />
          )}
          {!list.isSuccess ? null : state.q === "" && state.resource === "" && state.window === "" ? (
            <Empty title="No entries yet">
              The log lists every change of a run, a webhook, a policy or a view, with actor, time and reason.
            </Empty>
          ) : (
            <Empty title="No entry matches">Clear the search, or choose a longer time.</Empty>
          )}
        </InsteadOfRows>
      ) : (
        <RowList
          label="Audit log"
          role="table"
          rows={entries}
          height={HEIGHT}
          total={total ?? -1}
          keyOf={({ id }) => id}
          grid={GRID}
          attributes={() => ROW}
          head={["Time", "Actor", "Action", "Resource", "Outcome", "Reason", "Request"].map((title, at) => (
            <span key={title} role="columnheader" className={`label ${COLUMNS[at]}`}>
              {title}
            </span>
          ))}
          onOpen={({ id }) => set({ entry: id })}
          onEnd={hasNextPage && !isFetchingNextPage ? () => void fetchNextPage() : undefined}
        >
          {(entry) => <Cells entry={entry} narrow={narrow} open={set} />}
        </RowList>
      )}
      <Overlay open={chosen !== undefined} onClose={() => set({ entry: "" })} title="Entry" form="side">
        {chosen === undefined ? null : <Entry entry={chosen} />}
      </Overlay>
    </div>
  )
}

const GRID =
  "grid items-center gap-x-3 px-4 grid-cols-[84px_1fr_1.2fr] md:grid-cols-[84px_minmax(100px,150px)_minmax(120px,190px)_1fr_84px] xl:grid-cols-[84px_minmax(90px,150px)_minmax(110px,150px)_1.8fr_84px_1fr_150px]"
const COLUMNS = ["", "", "", "max-md:hidden", "max-md:hidden", "max-xl:hidden", "max-xl:hidden"]

const textOf = (details: AuditEntry["details"], name: string): string => {
  const value = details[name]
  return typeof value === "string" ? value : ""
}

const tones = { refused: "bad", accepted: "warn", succeeded: "good" } as const
const toneOf = (outcome: string) => (outcome === "refused" || outcome === "accepted" ? tones[outcome] : tones.succeeded)

const ROW = { className: "border-b border-line" }

interface CellsProps {
  readonly entry: AuditEntry
  readonly narrow: (name: string, value: string) => void
  readonly open: (patch: { readonly entry: string }) => void
}

const Cells = ({ entry, narrow, open }: CellsProps) => {
  const { action, actor, actorName = actor, createdAt, details, id, requestId, resource, resourceId } = entry
  const outcome = textOf(details, "outcome")
  return (
    <>
      <span role="cell">
        <Time at={createdAt} className="text-soft" />
      </span>
      <span role="cell" className="min-w-0">
        <button
          type="button"
          title={`Filter by ${actor}`}
          className="max-w-full truncate font-mono text-[12px] hover:text-accent"
          onClick={(event) => {
            event.stopPropagation()
            narrow("actor", actor)
          }}
        >
          <UserText text={actorName} />
        </button>
      </span>
      <span role="cell" className="min-w-0">
        <button
          type="button"
          className="max-w-full truncate text-accent underline decoration-1 underline-offset-2"
          onClick={(event) => {
            event.stopPropagation()
            open({ entry: id })
          }}
        >
          {action}
        </button>
      </span>
      <span
        role="cell"
        className={`min-w-0 truncate text-soft ${COLUMNS[3]}`}
        // A link leads to the run and not to the entry.
        onClick={resource === "run" ? (event) => event.stopPropagation() : undefined}
      >
        {resource}{" "}
        {resource === "run" && resourceId !== undefined ? (
          <TextLink href={`/runs/${resourceId}`} className="font-mono text-[12px]">
            <UserText text={resourceId} />
          </TextLink>
        ) : (
          <UserText text={resourceId ?? ""} className="font-mono text-[12px]" />
        )}
      </span>
      <span role="cell" className={`flex min-w-0 ${COLUMNS[4]}`}>
        {outcome === "" ? null : (
          <Chip tone={toneOf(outcome)} title={outcome}>
            <UserText text={outcome} className="truncate" />
          </Chip>
        )}
      </span>
      <span role="cell" className={`min-w-0 truncate text-soft ${COLUMNS[5]}`}>
        <UserText text={textOf(details, "reason")} />
      </span>
      <span role="cell" className={`min-w-0 ${COLUMNS[6]}`}>
        {requestId === undefined ? null : <Id id={requestId} label="request id" />}
      </span>
    </>
  )
}

const Entry = ({ entry }: { readonly entry: AuditEntry }) => (
  <>
    <Facts
      facts={[
        ["Time", <Time key="when" at={entry.createdAt} />],
        ["Actor", <UserText key="who" text={`${entry.actor} (${entry.actorType})`} />],
        ["Name", entry.actorName === undefined ? "–" : <UserText key="called" text={entry.actorName} />],
        ["From", entry.clientAddress ?? "–"],
        ["Action", entry.action],
        [
          "Resource",
          entry.resource === "run" && entry.resourceId !== undefined ? (
            <TextLink key="what" href={`/runs/${entry.resourceId}`}>
              {entry.resource} {entry.resourceId}
            </TextLink>
          ) : (
            <UserText key="what" text={`${entry.resource} ${entry.resourceId ?? ""}`} />
          )
        ],
        ["Request", entry.requestId === undefined ? "–" : <Id key="request" id={entry.requestId} label="request id" />],
        ["Entry", <Id key="entry" id={entry.id} label="entry id" />]
      ]}
    />
    <h3 className="label border-t border-line px-3 pt-2">Details</h3>
    <div className="overflow-auto px-3 pt-1 pb-3">
      <JsonTree value={entry.details} />
    </div>
  </>
)

const CSV_COLUMNS: CsvColumns<AuditEntry> = {
  createdAt: ({ createdAt }) => createdAt,
  actor: ({ actor }) => actor,
  actorName: ({ actorName }) => actorName,
  actorType: ({ actorType }) => actorType,
  action: ({ action }) => action,
  resource: ({ resource }) => resource,
  resourceId: ({ resourceId }) => resourceId,
  requestId: ({ requestId }) => requestId,
  clientAddress: ({ clientAddress }) => clientAddress,
  details: ({ details }) => JSON.stringify(details)
}

const exportEntries = async (query: AuditQuery, form: "csv" | "jsonl") => {
  const entries: Array<AuditEntry> = []
  let cursor: string | undefined
  do {
    const page = await call((api) => api.audit.list({ query: { ...query, ...(cursor !== undefined && { cursor }) } }))
    entries.push(...page.data)
    cursor = page.nextCursor
  } while (cursor !== undefined && entries.length < MOST_EXPORTED)
  if (form === "jsonl") {
    return downloadLines("audit.jsonl", entries)
  }
  download("audit.csv", "text/csv", csvOf(CSV_COLUMNS, entries))
}
