import type { Webhook, WebhookDelivery } from "@runplane/api"
import { CheckCircle2, Clock, RotateCcw, XCircle } from "lucide-react"
import { call } from "../../client/Client.ts"
import { Id, Time, UserText } from "../../ui/basics.tsx"
import { useChange } from "../../ui/dialogs/Confirm.tsx"
import JsonTree from "../../ui/json/JsonTree.tsx"
import { countColumn, Facts, Loaded, Panel, Select, Table, type TableColumn, TextLink } from "../../ui/kit.tsx"
import { Empty, Failure } from "../../ui/States.tsx"
import { useRead } from "../../ui/useRead.ts"
import { counted, whole } from "../../view/format/Format.ts"
import { SOON_MS } from "../../view/live/Polls.ts"
import { numberParam, textParam, type ValuesOf, wordParam } from "../../view/query/UrlState.ts"

/** The state of the page, all of it in its address: the endpoint, and which of its deliveries. */
export const webhookParams = {
  id: textParam,
  status: wordParam(["any", "pending", "delivered", "failed"]),
  delivery: textParam,
  page: numberParam(1)
}
export type WebhooksState = ValuesOf<typeof webhookParams>

interface DeliveriesProps {
  readonly webhook: Webhook
  readonly state: WebhooksState
  readonly set: (patch: Partial<WebhooksState>) => void
  readonly mayWrite: boolean
}

const PAGE = 50
const TEST = "webhook.test"

/** The deliveries to an endpoint, the latest first, with attempts, request and answer. */
export const Deliveries = ({ mayWrite, set, state, webhook }: DeliveriesProps) => {
  const page = state.page ?? 1
  const deliveries = useRead(
    ["deliveries", webhook.id, state.status, page],
    (api) =>
      api.webhooks.deliveries({
        params: { id: webhook.id },
        query: {
          limit: PAGE,
          offset: (page - 1) * PAGE,
          ...(state.status !== "any" && { status: state.status })
        }
      }),
    { everyMs: SOON_MS }
  )
  const chosen = deliveries.data?.data.find(({ id }) => id === state.delivery)
  return (
    <div className={`grid items-start gap-3 ${chosen === undefined ? "" : "xl:grid-cols-[1fr_minmax(320px,420px)]"}`}>
      <Panel
        title="Deliveries"
        note={deliveries.data === undefined ? undefined : whole(deliveries.data.total)}
        actions={
          <Select
            label="Status of the delivery"
            value={state.status}
            options={[
              ["any", "Any status"],
              ["pending", "Waiting"],
              ["delivered", "Delivered"],
              ["failed", "Failed"]
            ]}
            onChange={(status) => set({ status, page: undefined })}
          />
        }
      >
        <Loaded read={deliveries} what="The deliveries cannot be read" rows={6} height={36}>
          {({ data, total }) =>
            data.length === 0 ? (
              <Empty title="No deliveries">There was no event for this endpoint, or the filter excludes it.</Empty>
            ) : (
              <>
                <Table
                  label="Deliveries"
                  columns={columnsOf((id) => set({ delivery: id }))}
                  rows={data}
                  keyOf={({ id }) => id}
                  isChosen={({ id }) => id === state.delivery}
                  onOpen={({ id }) => set({ delivery: id })}
                />
                {total > PAGE ? (
                  <div className="flex items-center justify-end gap-2 border-t border-line px-3 py-2">
                    <button type="button" className="btn" disabled={page <= 1} onClick={() => set({ page: page - 1 })}>
                      Later
                    </button>
                    <span className="num text-muted">
                      {page} of {Math.ceil(total / PAGE)}
                    </span>
                    <button
                      type="button"
                      className="btn"
                      disabled={page * PAGE >= total}
                      onClick={() => set({ page: page + 1 })}
                    >
                      Earlier
                    </button>
                  </div>
                ) : null}
              </>
            )
          }
        </Loaded>
      </Panel>
      {chosen === undefined ? null : (
        <Details delivery={chosen} webhook={webhook} mayWrite={mayWrite} onClose={() => set({ delivery: "" })} />
      )}
    </div>
  )
}

const columnsOf = (open: (id: string) => void): ReadonlyArray<TableColumn<WebhookDelivery>> => [
  { title: "Status", cell: (delivery) => <State delivery={delivery} /> },
  {
    title: "Event",
    cell: ({ event, id }) => (
      <button
        type="button"
        className="font-mono text-[12px] text-accent underline decoration-1 underline-offset-2"
        onClick={() => open(id)}
      >
        {event}
      </button>
    )
  },
  countColumn("Attempts", ({ attempts }) => attempts),
  {
    title: "Answer",
    className: "max-w-[280px]",
    cell: ({ errorMessage, responseStatus }) => (
      <span className="flex min-w-0 gap-2">
        {responseStatus === undefined ? null : <span className="num">{responseStatus}</span>}
        {errorMessage === undefined ? null : <UserText text={errorMessage} className="truncate text-bad" />}
      </span>
    )
  },
  { title: "Created", from: "sm", cell: ({ createdAt }) => <Time at={createdAt} /> }
]

const STATES = {
  delivered: { icon: CheckCircle2, title: "Delivered", tone: "text-good" },
  failed: { icon: XCircle, title: "Failed", tone: "text-bad" },
  pending: { icon: Clock, title: "Waiting", tone: "text-warn" }
} as const

const State = ({ delivery: { nextAttemptAt, status } }: { readonly delivery: WebhookDelivery }) => {
  const { icon: Icon, title, tone } = STATES[status]
  return (
    <span className={`inline-flex items-center gap-1.5 ${tone}`}>
      <Icon size={14} aria-hidden /> {title}
      {status !== "pending" || nextAttemptAt === undefined ? null : (
        <span className="text-muted max-sm:hidden">
          <Time at={nextAttemptAt} />
        </span>
      )}
    </span>
  )
}

const ReportedRun = ({ delivery: { event, runId } }: { readonly delivery: WebhookDelivery }) => {
  if (runId !== undefined) return <TextLink href={`/runs/${runId}`}>{runId}</TextLink>
  return event === TEST ? "None: a test" : "None: a rule over several runs"
}

interface DetailsProps {
  readonly delivery: WebhookDelivery
  readonly webhook: Webhook
  readonly mayWrite: boolean
  readonly onClose: () => void
}

const Details = ({ delivery, mayWrite, onClose, webhook }: DetailsProps) => {
  const again = useChange(
    () => call((api) => api.webhooks.redeliver({ params: { id: webhook.id, deliveryId: delivery.id } })),
    [["deliveries", webhook.id], ["webhooks"]],
    () => {}
  )
  return (
    <Panel
      title="Delivery"
      actions={
        <>
          {mayWrite ? (
            <button
              type="button"
              className="btn"
              disabled={again.isPending || !webhook.active}
              title={webhook.active ? undefined : "The endpoint is not active"}
              onClick={() => again.mutate()}
            >
              <RotateCcw size={14} aria-hidden /> {again.isPending ? "Sending…" : "Send again"}
            </button>
          ) : null}
          <button type="button" className="btn btn-quiet" onClick={onClose}>
            Close
          </button>
        </>
      }
    >
      {again.isError ? <Failure what="The delivery could not be sent again" error={again.error} /> : null}
      <Facts
        facts={[
          ["Id", <Id key="id" id={delivery.id} label="delivery id" />],
          ["Status", <State key="status" delivery={delivery} />],
          ["Run", <ReportedRun key="run" delivery={delivery} />],
          ...(delivery.firingId === undefined
            ? []
            : [
                [
                  "Alert",
                  <TextLink key="alert" href={`/alerts?id=${delivery.firingId}`}>
                    {delivery.firingId}
                  </TextLink>
                ] as const
              ]),
          ["Attempts", counted(delivery.attempts, "attempt")],
          ["Created", <Time key="made" at={delivery.createdAt} />],
          [
            "Last attempt",
            delivery.lastAttemptAt === undefined ? "–" : <Time key="last" at={delivery.lastAttemptAt} />
          ],
          [
            "Next attempt",
            delivery.status === "pending" && delivery.nextAttemptAt !== undefined ? (
              <Time key="next" at={delivery.nextAttemptAt} />
            ) : (
              "–"
            )
          ],
          ["Delivered", delivery.deliveredAt === undefined ? "–" : <Time key="done" at={delivery.deliveredAt} />],
          ["Status of the answer", delivery.responseStatus ?? "No answer"],
          ["Error", delivery.errorMessage === undefined ? "–" : <UserText key="error" text={delivery.errorMessage} />]
        ]}
      />
      <h3 className="label border-t border-line px-3 pt-2">Request body, posted to {webhook.url}</h3>
      <div className="overflow-auto px-3 pt-1 pb-3">
        <JsonTree value={delivery.payload} />
      </div>
    </Panel>
  )
}
