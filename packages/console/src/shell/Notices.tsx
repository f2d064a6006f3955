import { AlertTriangle, Clock } from "lucide-react"
import type { ReactNode } from "react"
import { connection } from "../client/Connection.ts"
import { useStore } from "../ui/hooks.ts"
import { duration } from "../view/format/Format.ts"
import { serverOffset } from "../view/live/ServerClock.ts"

/** What concerns every page: a database that is away, and a clock that is wrong. */
export default function Notices() {
  const { state } = useStore(connection)
  const offset = useStore(serverOffset)
  return (
    <>
      {state === "no-database" ? (
        <Notice kind="database" tone="border-bad/40 bg-bad-soft text-bad">
          <AlertTriangle size={14} aria-hidden className="mt-0.5 shrink-0" />
          <span>
            The database does not answer. Pages show what was read before, and nothing is stored until it is back.
          </span>
        </Notice>
      ) : null}
      {offset === 0 ? null : (
        <Notice kind="clock" tone="border-line bg-warn-soft text-warn">
          <Clock size={14} aria-hidden className="mt-0.5 shrink-0" />
          <span>
            The clock of this computer is {duration(Math.abs(offset))} {offset > 0 ? "behind" : "ahead of"} the
            service's. Ages and elapsed times are by the service's clock.
          </span>
        </Notice>
      )}
    </>
  )
}

const Notice = ({
  children,
  kind,
  tone
}: {
  readonly kind: string
  readonly tone: string
  readonly children: ReactNode
}) => (
  <p
    role="status"
    data-notice={kind}
    className={`no-print flex shrink-0 items-start gap-2 border-b px-4 py-1.5 ${tone}`}
  >
    {children}
  </p>
)
