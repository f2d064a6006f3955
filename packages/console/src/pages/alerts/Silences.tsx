import type { AlertSilence } from "@runplane/api"
import { Bell } from "lucide-react"
import { call } from "../../client/Client.ts"
import { Chip, Time, UserText } from "../../ui/basics.tsx"
import { Confirm, DialogButton } from "../../ui/dialogs/Confirm.tsx"
import { Panel, Table, type TableColumn } from "../../ui/kit.tsx"
import { counted } from "../../view/format/Format.ts"

const Reason = ({ silence: { author, createdAt, reason } }: { readonly silence: AlertSilence }) => (
  <>
    <UserText text={reason} />
    <span className="block text-[12px] text-muted">
      by <UserText text={author} />, <Time at={createdAt} />
    </span>
  </>
)

const columns: ReadonlyArray<TableColumn<AlertSilence>> = [
  {
    title: "Silenced runs",
    cell: (silence) => (
      <>
        {silence.match.trim() === "" ? (
          <Chip tone="warn">all alerts</Chip>
        ) : (
          <UserText text={silence.match} className="font-mono text-[12px]" />
        )}
        <span className="block sm:hidden">
          <Reason silence={silence} />
        </span>
      </>
    )
  },
  { title: "Ends", cell: ({ until }) => <Time at={until} /> },
  { title: "Reason", from: "sm", cell: (silence) => <Reason silence={silence} /> }
]

/** The silences that have not ended, each with its removal. */
export const Silences = ({
  mayWrite,
  silences
}: {
  readonly silences: ReadonlyArray<AlertSilence>
  readonly mayWrite: boolean
}) => {
  const removal: TableColumn<AlertSilence> = {
    title: "Remove",
    align: "right",
    cell: ({ id, reason }) => (
      <DialogButton
        title={`Notify again: ${reason}`}
        dialog={(close) => (
          <Confirm
            title="Remove this silence?"
            button="Remove the silence"
            fault="The silence was not removed"
            onClose={close}
            renews={[["alerts"]]}
            act={() => call((api) => api.alerts.removeSilence({ params: { id } }))}
          >
            <p className="text-soft">
              Alerts that are still open and that no other silence covers are notified within seconds.
            </p>
          </Confirm>
        )}
      >
        <Bell size={14} aria-hidden /> <span className="max-sm:sr-only">Remove</span>
      </DialogButton>
    )
  }
  return (
    <Panel title="Silences" note={counted(silences.length, "silence")}>
      <Table
        label="Silences"
        columns={mayWrite ? [...columns, removal] : columns}
        rows={silences}
        keyOf={({ id }) => id}
      />
    </Panel>
  )
}
