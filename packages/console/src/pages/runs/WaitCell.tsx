import { isTerminal, type RunStatus } from "@runplane/domain"
import { Time } from "../../ui/basics.tsx"
import { NameText } from "../../ui/NameText.tsx"
import { useRead } from "../../ui/useRead.ts"
import { waitsOf } from "../../view/runs/Waits.ts"

const REFRESH_MS = 10_000

/** For whom an open run waits, and since when. Only rows on the screen read it. */
export default function WaitCell({ id, status }: { readonly id: string; readonly status: RunStatus }) {
  const isOpen = !isTerminal(status)
  const { data } = useRead(["run waits", id], (api) => api.runs.state({ params: { id } }), {
    enabled: isOpen,
    ...(isOpen && { everyMs: REFRESH_MS })
  })
  const waits = data === undefined || !isOpen ? undefined : waitsOf(data)
  if (waits === undefined) return <span className="text-muted">–</span>
  const [first = "", ...others] = waits.participants
  return (
    <span className="flex min-w-0 items-baseline gap-1.5" title={waits.participants.join(", ")}>
      <NameText text={first} />
      {others.length === 0 ? null : <span className="num text-muted">+{others.length}</span>}
      {waits.since === undefined ? null : <Time at={waits.since} className="shrink-0 text-muted" />}
    </span>
  )
}
