import type { RankedRole } from "@runplane/api"
import { activePolicy, decisionRecord, isTerminal } from "@runplane/domain"
import {
  Archive,
  ArchiveRestore,
  Ban,
  Copy,
  CornerUpLeft,
  GitFork,
  type LucideIcon,
  Pause,
  Play,
  RotateCcw,
  ShieldCheck,
  Trash2
} from "lucide-react"
import { Suspense, useMemo, useState } from "react"
import { Link } from "wouter"
import { isOffline } from "../../client/Offline.ts"
import { useNow } from "../../ui/hooks.ts"
import { lazily } from "../../ui/lazily.ts"
import { useMay, useMe } from "../../ui/useMe.ts"
import { gateIdOf, gatePage } from "../../view/gates/GateLinks.ts"
import { type Control, type RunAction, refusalOf } from "../../view/run/Actions.ts"
import { authorityRefusalOf } from "../../view/run/Authority.ts"
import { madeFrom } from "../../view/run/Related.ts"
import { hasRuntime, runFacts } from "../../view/run/RunFacts.ts"
import type { ShownRun } from "./useShown.ts"

const CloneDialog = lazily(() => import("./CloneDialog.tsx"))
const RelatedRuns = lazily(() => import("./RelatedRuns.tsx"))
const ActionDialog = lazily(() => import("./ActionDialog.tsx"))

interface Offer {
  readonly action: RunAction
  readonly title: string
  readonly icon: LucideIcon
  /** Why it cannot be done now; undefined when it can. */
  readonly not: string | undefined
}

/** The actions that the caller's role allows, each with the reason when the status does not allow it. */
const offersFor = (
  { run, state }: ShownRun,
  may: (role: RankedRole) => boolean,
  control: Control
): ReadonlyArray<Offer> => {
  const { status } = state.run
  const offer = (action: RunAction, title: string, icon: LucideIcon): Offer => ({
    action,
    title,
    icon,
    not: refusalOf(action, status, run, control)
  })
  return [
    ...(may("operator") && run.storage !== "archive"
      ? [
          ...(hasRuntime(run)
            ? [
                status === "suspended" ? offer("resume", "Resume", Play) : offer("suspend", "Suspend", Pause),
                offer("cancel", "Cancel", Ban)
              ]
            : []),
          run.archivedAt === null
            ? offer("archive", "Archive", Archive)
            : offer("unarchive", "Unarchive", ArchiveRestore)
        ]
      : []),
    ...(may("admin") ? [offer("delete", "Delete", Trash2)] : [])
  ]
}

/** Shown as icons on narrow screens. */
const RARE: ReadonlySet<RunAction> = new Set(["archive", "unarchive", "delete"])

/** A silence that matters lasts minutes. Milliseconds. */
const SILENCE_STEP_MS = 10_000

/** Whether the session lets the service control it, by the events that say so; they do not change later. */
const useControl = ({ events, run, state }: ShownRun): Control => {
  const identity = useMe()?.runtimeIdentity
  const now = useNow(SILENCE_STEP_MS)
  const { initiator, status } = state.run
  const { policyVersion } = state.policy
  const authority = useMemo(() => {
    if (isTerminal(status)) return undefined
    const record = decisionRecord(events)
    return authorityRefusalOf(record, activePolicy(record), identity)
    // The events of the policy and of the session come before all others.
  }, [initiator, policyVersion, status, identity])
  return { authority, silentMs: now - Date.parse(events.at(-1)?.ts ?? run.updatedAt) }
}

/** The buttons of the actions, each with the reason when it cannot work, and the links to the gate and the original. */
export default function RunActions({ shown }: { readonly shown: ShownRun }) {
  const [action, setAction] = useState<RunAction>()
  const [open, setOpen] = useState<"clone" | "related">()
  const close = () => setOpen(undefined)
  const may = useMay()
  const control = useControl(shown)
  const { run } = shown
  const gate = gateIdOf(run)
  const from = madeFrom(run)
  return (
    <>
      {gate === undefined ? null : (
        <Link href={gatePage(gate)} className="btn px-2" title={`Gate ${gate}`}>
          <ShieldCheck size={14} aria-hidden />
          <span className="max-lg:sr-only">Gate</span>
        </Link>
      )}
      {from === undefined ? null : (
        <Link href={`/runs/${encodeURIComponent(from.id)}`} className="btn px-2" title={`${from.title} ${from.id}`}>
          <CornerUpLeft size={14} aria-hidden />
          <span className="max-lg:sr-only">
            {from.title} <span className="font-mono text-[11px]">{from.id.slice(0, 8)}</span>
          </span>
        </Link>
      )}
      {offersFor(shown, may, control).map(({ action: offered, icon: Icon, not, title }) => (
        <button
          key={offered}
          type="button"
          aria-disabled={not !== undefined}
          title={not ?? title}
          className={`btn px-2 ${not === undefined ? "" : "cursor-not-allowed text-muted"} ${
            // The only action of a read-only run is not the one to press.
            (offered === "cancel" || (offered === "delete" && run.storage !== "archive")) && not === undefined
              ? "btn-bad"
              : ""
          }`}
          onClick={() => (not === undefined ? setAction(offered) : undefined)}
        >
          <Icon size={14} aria-hidden />
          <span className={RARE.has(offered) ? "max-2xl:sr-only" : "max-lg:sr-only"}>{title}</span>
        </button>
      ))}
      {may("operator") && hasRuntime(run) ? (
        <IconButton title="Clone" says="Create a run like this one" icon={Copy} onClick={() => setOpen("clone")} />
      ) : null}
      {isOffline ? null : (
        <IconButton
          title="Related"
          says="Clones, and runs of the same conversation or scenario"
          icon={GitFork}
          onClick={() => setOpen("related")}
        />
      )}
      {may("operator") && runFacts(run).scenario !== undefined && hasRuntime(run) ? (
        <Link href={`/launch?from=${encodeURIComponent(run.id)}`} className="btn px-2" title="Run again">
          <RotateCcw size={14} aria-hidden />
          <span className="max-lg:sr-only">Run again</span>
        </Link>
      ) : null}
      <Suspense fallback={null}>
        {open === "clone" ? (
          <CloneDialog run={run} onClose={close} />
        ) : open === "related" ? (
          <RelatedRuns run={run} onClose={close} />
        ) : null}
      </Suspense>
      {action === undefined ? null : (
        <Suspense fallback={null}>
          <ActionDialog action={action} run={run} onClose={() => setAction(undefined)} />
        </Suspense>
      )}
    </>
  )
}

interface IconButtonProps {
  readonly title: string
  readonly says: string
  readonly icon: LucideIcon
  readonly onClick: () => void
}

const IconButton = ({ icon: Icon, onClick, says, title }: IconButtonProps) => (
  <button type="button" className="btn px-2" title={says} onClick={onClick}>
    <Icon size={14} aria-hidden />
    <span className="max-2xl:sr-only">{title}</span>
  </button>
)
