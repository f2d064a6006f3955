import type { AlertPage } from "@runplane/api"
import type { AlertFiring } from "@runplane/domain"
import { BellOff, Check } from "lucide-react"
import { useState } from "react"
import { call } from "../../client/Client.ts"
import { Chip } from "../../ui/basics.tsx"
import { DialogButton, FormDialog, useChange } from "../../ui/dialogs/Confirm.tsx"
import { Panel, Select, Table } from "../../ui/kit.tsx"
import { counted } from "../../view/format/Format.ts"
import { serviceNow } from "../../view/live/ServerClock.ts"
import { firingColumns } from "./FiringColumns.tsx"

/** The open alerts, each with its acknowledgement and a silence. */
export const OpenAlerts = ({
  chosen,
  mayWrite,
  page: { data, total }
}: {
  readonly page: AlertPage
  readonly chosen: string
  readonly mayWrite: boolean
}) => (
  <Panel title="Open alerts" note={counted(total, "alert")}>
    {data.length < total ? (
      <p className="border-b border-line px-3 py-1.5 text-warn">The {data.length} most urgent of them are shown.</p>
    ) : null}
    {data.length === 0 ? (
      <p className="p-3 text-muted">No rule has an open alert.</p>
    ) : (
      <Table
        label="Open alerts"
        columns={[
          ...firingColumns,
          {
            title: "Handling",
            align: "right",
            cell: (firing) => <Handling firing={firing} mayWrite={mayWrite} />
          }
        ]}
        rows={data}
        keyOf={({ id }) => id}
        isChosen={({ id }) => id === chosen}
      />
    )}
  </Panel>
)

const Handling = ({ firing, mayWrite }: { readonly firing: AlertFiring; readonly mayWrite: boolean }) => {
  const { acknowledgedAt, acknowledgedBy = "", note, silenced } = firing
  return (
    <span className="flex flex-wrap items-center justify-end gap-1.5">
      {silenced ? <Chip>silenced</Chip> : null}
      {acknowledgedAt === undefined ? null : (
        <Chip tone="good" title={note === undefined ? acknowledgedBy : `${acknowledgedBy}: ${note}`}>
          acknowledged
        </Chip>
      )}
      {mayWrite ? (
        <>
          {acknowledgedAt === undefined ? (
            <DialogButton dialog={(close) => <AckForm id={firing.id} onClose={close} />}>
              <Check size={14} aria-hidden /> <Word text="Acknowledge" />
            </DialogButton>
          ) : null}
          <DialogButton
            title="Suppress the notifications about some runs"
            dialog={(close) => <SilenceForm firing={firing} onClose={close} />}
          >
            <BellOff size={14} aria-hidden /> <Word text="Silence" />
          </DialogButton>
        </>
      ) : null}
    </span>
  )
}

/** The name of a button, which a narrow screen replaces by its icon. */
const Word = ({ text }: { readonly text: string }) => <span className="max-sm:sr-only">{text}</span>

const AckForm = ({ id, onClose }: { readonly id: string; readonly onClose: () => void }) => {
  const [note, setNote] = useState("")
  const save = useChange(
    () => call((api) => api.alerts.acknowledge({ params: { id }, payload: note === "" ? {} : { note } })),
    [["alerts"]],
    onClose
  )
  return (
    <FormDialog
      title="Acknowledge the alert"
      button="Acknowledge"
      fault="The alert was not acknowledged"
      change={save}
      onClose={onClose}
    >
      <p className="text-soft">It stays open until its measure falls, and is not repeated.</p>
      <label className="block">
        <span className="label">Note (optional)</span>
        <input autoFocus className="field mt-1 w-full" value={note} onChange={({ target }) => setNote(target.value)} />
      </label>
    </FormDialog>
  )
}

const HOUR_MS = 3_600_000
const LENGTHS = [
  ["1", "1 hour"],
  ["4", "4 hours"],
  ["24", "1 day"],
  ["168", "1 week"]
] as const

/** A search that finds the runs of the alert, as the proposal of a silence. */
const matchOf = ({ key, per, runId, scenarioRef }: AlertFiring): string => {
  if (per === "environment") return `environment:${JSON.stringify(key)}`
  if (per === "tag") return `tag:${JSON.stringify(key)}`
  if (scenarioRef !== undefined) return `scenarioRef:${JSON.stringify(scenarioRef)}`
  return runId === undefined ? "" : `id:${runId}`
}

const SilenceForm = ({ firing, onClose }: { readonly firing: AlertFiring; readonly onClose: () => void }) => {
  const [match, setMatch] = useState(() => matchOf(firing))
  const [hours, setHours] = useState<(typeof LENGTHS)[number][0]>("4")
  const [reason, setReason] = useState("")
  const save = useChange(
    () =>
      call((api) =>
        api.alerts.addSilence({
          payload: { match, reason, until: new Date(serviceNow() + Number(hours) * HOUR_MS).toISOString() }
        })
      ),
    [["alerts"]],
    onClose
  )
  return (
    <FormDialog
      title="Silence alerts"
      button="Silence"
      fault="The silence was not stored"
      change={save}
      onClose={onClose}
    >
      <p className="text-soft">
        Alerts of these runs still open, and are not notified until the silence ends. Those that are open then are
        notified.
      </p>
      <label className="block">
        <span className="label">Runs (empty: all)</span>
        <input
          className="field mt-1 w-full font-mono text-[12px]"
          value={match}
          onChange={({ target }) => setMatch(target.value)}
        />
      </label>
      {match.trim() === "" ? (
        <p role="alert" className="text-soft">
          This silence covers all alerts.
        </p>
      ) : null}
      <div>
        <span className="label">For</span>
        <Select className="mt-1 w-full" label="Length" value={hours} options={LENGTHS} onChange={setHours} />
      </div>
      <label className="block">
        <span className="label">Reason</span>
        <input
          autoFocus
          required
          className="field mt-1 w-full"
          value={reason}
          onChange={({ target }) => setReason(target.value)}
        />
      </label>
    </FormDialog>
  )
}
