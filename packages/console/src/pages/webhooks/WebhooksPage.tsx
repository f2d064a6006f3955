import type { Webhook } from "@runplane/api"
import { Plus } from "lucide-react"
import { Chip, Time, UserText } from "../../ui/basics.tsx"
import { DialogButton } from "../../ui/dialogs/Confirm.tsx"
import { useTitle, useUrlState } from "../../ui/hooks.ts"
import { countColumn, Loaded, Panel, Sheet, Table, type TableColumn } from "../../ui/kit.tsx"
import { Empty } from "../../ui/States.tsx"
import { useMay } from "../../ui/useMe.ts"
import { useRead } from "../../ui/useRead.ts"
import { counted, dateTime, percent, whole } from "../../view/format/Format.ts"
import { OFTEN_MS } from "../../view/live/Polls.ts"
import { Deliveries, webhookParams } from "./Deliveries.tsx"
import { WebhookActions } from "./WebhookActions.tsx"
import { WebhookForm } from "./WebhookForm.tsx"

/** The endpoints of webhooks: health and deliveries. */
export default function WebhooksPage() {
  const [state, set] = useUrlState(webhookParams)
  const mayWrite = useMay()("admin")
  useTitle("Webhooks")
  const hooks = useRead(["webhooks"], (api) => api.webhooks.list(), { everyMs: OFTEN_MS })
  const chosen = hooks.data?.find(({ id }) => id === state.id)
  return (
    <Sheet
      title="Webhooks"
      note={hooks.data === undefined ? undefined : counted(hooks.data.length, "endpoint")}
      actions={
        mayWrite ? (
          <DialogButton className="btn btn-main" dialog={(close) => <WebhookForm onClose={close} />}>
            <Plus size={14} aria-hidden /> Add an endpoint
          </DialogButton>
        ) : null
      }
    >
      <Loaded read={hooks} what="The webhooks cannot be read" rows={4} height={44}>
        {(shown) =>
          shown.length === 0 ? (
            <Empty title="No endpoints yet">
              An endpoint receives an event when a run starts, ends, is suspended or is resumed.
            </Empty>
          ) : (
            <Panel title="Endpoints">
              <Table
                label="Endpoints"
                columns={columnsOf((webhook) => set({ id: webhook.id, delivery: "", page: undefined }))}
                rows={shown}
                keyOf={({ id }) => id}
                isChosen={({ id }) => id === state.id}
                onOpen={({ id }) => set({ id, delivery: "", page: undefined })}
              />
            </Panel>
          )
        }
      </Loaded>
      {chosen === undefined ? null : (
        <>
          {mayWrite ? <WebhookActions key={chosen.id} webhook={chosen} onGone={() => set({ id: "" })} /> : null}
          <Deliveries key={`deliveries ${chosen.id}`} webhook={chosen} state={state} set={set} mayWrite={mayWrite} />
        </>
      )}
    </Sheet>
  )
}

const columnsOf = (open: (webhook: Webhook) => void): ReadonlyArray<TableColumn<Webhook>> => [
  { title: "Health", className: "whitespace-nowrap", cell: (webhook) => <Health webhook={webhook} /> },
  {
    title: "URL",
    className: "max-w-[420px]",
    cell: (webhook) => (
      <button
        type="button"
        className="max-w-full truncate text-left text-accent underline decoration-1 underline-offset-2"
        onClick={() => open(webhook)}
      >
        <UserText text={webhook.url} />
      </button>
    )
  },
  {
    title: "Events",
    from: "md",
    className: "max-w-[260px] truncate",
    cell: ({ events }) => (events.length === 0 ? "All" : <UserText text={events.join(", ")} />)
  },
  countColumn("Delivered", ({ deliveryStats }) => deliveryStats?.succeeded ?? 0),
  {
    title: "Failed",
    align: "right",
    cell: ({ deliveryStats }) => (
      <span className={`num ${(deliveryStats?.failed ?? 0) > 0 ? "text-bad" : ""}`}>
        {whole(deliveryStats?.failed ?? 0)}
      </span>
    )
  },
  countColumn("Waiting", ({ deliveryStats }) => waitingOf(deliveryStats), "sm"),
  {
    title: "Last delivered",
    from: "lg",
    cell: ({ deliveryStats }) =>
      deliveryStats?.lastDeliveredAt === undefined ? (
        <span className="text-muted">never</span>
      ) : (
        <Time at={deliveryStats.lastDeliveredAt} />
      )
  },
  {
    title: "Secret",
    from: "xl",
    cell: ({ secret }) => <span className="font-mono text-[12px] text-soft">{secret}</span>
  }
]

const waitingOf = (stats: Webhook["deliveryStats"]) =>
  stats === undefined ? 0 : stats.total - stats.succeeded - stats.failed

const Health = ({ webhook: { active, deliveryStats, slowedSince } }: { readonly webhook: Webhook }) => {
  if (!active) return <Chip tone="warn">not active</Chip>
  if (slowedSince !== undefined) {
    return (
      <Chip tone="bad" title={`It has timed out since ${dateTime(Date.parse(slowedSince))}: one attempt at a time`}>
        does not answer
      </Chip>
    )
  }
  const ended = (deliveryStats?.succeeded ?? 0) + (deliveryStats?.failed ?? 0)
  const waiting = waitingOf(deliveryStats)
  if (deliveryStats === undefined || ended === 0) {
    return waiting > 0 ? <Chip tone="warn">{whole(waiting)} waiting</Chip> : <Chip>nothing sent yet</Chip>
  }
  const share = deliveryStats.succeeded / ended
  return share === 1 ? (
    <Chip tone="good">healthy</Chip>
  ) : (
    <Chip tone={share < 0.5 ? "bad" : "warn"} title={`${percent(share)} of the finished deliveries succeeded`}>
      {percent(share)} delivered
    </Chip>
  )
}
